/** A text of so many characters at most, `…` where it was longer. */
export function shortText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
