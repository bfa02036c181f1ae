/** A text of data for the middle of a sentence: its direction is its own, and turns nothing around it (Unicode's isolates). */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}
