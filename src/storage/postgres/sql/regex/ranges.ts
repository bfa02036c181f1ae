/** A set of code points: pairs of first and last, ascending, with gaps between them. */
export type Ranges = readonly number[];

const maxCodePoint = 0x10ffff;

/** The set that holds every code point. */
export const everything: Ranges = [0, maxCodePoint];

/** The set of the ranges given, which may overlap and come in any order. */
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

/** The code points that a set does not have. */
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

/** Whether nothing that a text can have lies between: surrogates are no characters of their own. */
function joins(end: number, first: number): boolean {
  return first <= end + 1 || (end === 0xd7ff && first === 0xe000);
}
