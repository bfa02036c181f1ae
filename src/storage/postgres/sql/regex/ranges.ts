/** A set of code points: pairs of first and last, ascending, with gaps in between. */
export type Ranges = readonly number[];

const maxCodePoint = 0x10ffff;

/** The set of all code points. */
export const everything: Ranges = [0, maxCodePoint];

/** Returns the union of ranges, which may overlap and come in any order. */
export function rangesOf(pairs: Ranges): Ranges {
  const sorted: [number, number][] = [];
  for (let at = 0; at < pairs.length; at += 2) sorted.push([pairs[at] as number, pairs[at + 1] as number]);
  sorted.sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [first, last] of sorted) {
    const end = out.at(-1);
    if (end !== undefined && joins(end, first)) out[out.length - 1] = Math.max(end, last);
    else out.push(first, last);
  }
  return out;
}

/** Returns the code points that are not in a set. */
export function complement(ranges: Ranges): Ranges {
  const out: number[] = [];
  let next = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const first = ranges[at] as number;
    if (first > next) out.push(next, first - 1);
    next = (ranges[at + 1] as number) + 1;
  }
  if (next <= maxCodePoint) out.push(next, maxCodePoint);
  return out;
}

/** Whether two ranges are adjacent. Surrogates are not characters of their own, so they do not count as a gap. */
function joins(end: number, first: number): boolean {
  return first <= end + 1 || (end === 0xd7ff && first === 0xe000);
}
