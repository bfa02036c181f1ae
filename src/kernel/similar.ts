const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Longer names are only compared regardless of case and underscores. */
const MAX_LENGTH = 40;

/**
 * Returns the known name that an unknown one probably means: it differs in case and underscores, or in one or two letters.
 * @param known names that the caller may see
 */
export function similarTo(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  const same = known.find((one) => one !== name && plain(one) === wanted);
  if (same !== undefined || wanted.length > MAX_LENGTH) return same;
  const maxDistance = Math.min(2, Math.floor(wanted.length / 3));
  let nearest: string | undefined;
  let nearestDistance = maxDistance + 1;
  for (const one of known) {
    if (Math.abs(one.length - name.length) > nearestDistance) continue;
    const distance = distanceOf(wanted, plain(one), nearestDistance);
    if (distance === 0 || distance >= nearestDistance) continue;
    nearest = one;
    nearestDistance = distance;
  }
  return nearest;
}

/** Returns the Damerau-Levenshtein distance: letters inserted, deleted, changed, or swapped with the next. Stops at `max` or more. */
function distanceOf(a: string, b: string, max: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  let lastRowMin = 0;
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(b.length + 1).fill(max);
    row[0] = i;
    let rowMin = i;
    // Each cell away from the diagonal is a letter inserted or deleted.
    for (let j = Math.max(1, i - max + 1); j < i + max && j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      let steps = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1));
      if (isSwapped) steps = Math.min(steps, at(before, j - 2) + 1);
      row[j] = steps;
      if (steps < rowMin) rowMin = steps;
    }
    if (rowMin >= max && lastRowMin >= max) return max;
    before = last;
    last = row;
    lastRowMin = rowMin;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
