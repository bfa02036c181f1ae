/** Formats a number of things: `1 file`, `3 files`. @param shown the formatted number */
export const counted = (count: number, what: string, shown = String(count)): string =>
  `${shown} ${what}${count === 1 ? '' : 's'}`;
