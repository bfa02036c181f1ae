/** Isolates a text from data in the middle of a sentence, so that directions do not affect each other (Unicode isolates). */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}
