const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

/** Names that are longer are compared by their letters alone. */
const MAX_LENGTH = 40;

/**
 * The name that is perhaps meant by one that there is not: it differs in case and underscores, or in a letter or two.
 * @param known names that the caller may see
 */
export function similarTo(name: string, known: readonly string[]): string | undefined {
  const sought = plain(name);
  const same = known.find((one) => one !== name && plain(one) === sought);
  if (same !== undefined || sought.length > MAX_LENGTH) return same;
  const most = Math.min(2, Math.floor(sought.length / 3));
  let nearest: string | undefined;
  let least = most + 1;
  for (const one of known) {
    if (Math.abs(one.length - name.length) > least) continue;
    const distance = distanceOf(sought, plain(one), least);
    if (distance === 0 || distance >= least) continue;
    nearest = one;
    least = distance;
  }
  return nearest;
}

/** Letters to put in, take out, change, or swap with the next; as soon as they are `most` or more it is not looked further. */
function distanceOf(a: string, b: string, most: number): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  let leastOfLast = 0;
  for (let i = 1; i <= a.length; i++) {
    const row = new Array<number>(b.length + 1).fill(most);
    row[0] = i;
    let least = i;
    // Each place away from the diagonal is a letter put in or taken out.
    for (let j = Math.max(1, i - most + 1); j < i + most && j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      let steps = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1));
      if (isSwapped) steps = Math.min(steps, at(before, j - 2) + 1);
      row[j] = steps;
      if (steps < least) least = steps;
    }
    if (least >= most && leastOfLast >= most) return most;
    before = last;
    last = row;
    leastOfLast = least;
  }
  return at(last, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Number.POSITIVE_INFINITY;
