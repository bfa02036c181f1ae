/** A number of things, for a line of output: `1 file`, `3 files`. @param shown the number as it is written */
export const counted = (count: number, what: string, shown = String(count)): string =>
  `${shown} ${what}${count === 1 ? '' : 's'}`;
