/** Builds text piece by piece; white space collapses to single spaces, as in browsers. */
export class TextLines {
  readonly #lines: string[] = [];
  /** The pieces of the current line. */
  #line: string[] = [];
  /** White space is pending; it counts only if more text follows. */
  #isSpaced = false;

  add(text: string): void {
    for (const word of text.split(/([ \t\r\n\f]+)/)) {
      if (word === '') continue;
      if (/^[ \t\r\n\f]/.test(word)) this.#isSpaced = true;
      else {
        if (this.#isSpaced && this.#line.length > 0) this.#line.push(' ');
        this.#line.push(word);
        this.#isSpaced = false;
      }
    }
  }

  /** Ends the current line, even if it is empty. */
  endLine(): void {
    this.#lines.push(this.#line.join(''));
    this.#line = [];
    this.#isSpaced = false;
  }

  /** Separates what follows from what came before: 1 starts a new line, 2 leaves an empty line between, 0 does nothing. */
  breakLines(lineBreaks: number): void {
    if (lineBreaks === 0) return;
    if (this.#line.length > 0) this.endLine();
    if (lineBreaks === 2 && this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('');
  }

  /** Whether the current line ends with the text. */
  endWith(text: string): boolean {
    let left = text.length;
    for (let at = this.#line.length - 1; at >= 0 && left > 0; at--) {
      const piece = this.#line[at] as string;
      if (!piece.endsWith(text.slice(Math.max(0, left - piece.length), left))) return false;
      left -= piece.length;
    }
    return left <= 0;
  }

  text(): string {
    if (this.#line.length > 0) this.endLine();
    return `${this.#lines.join('\n').trim()}\n`;
  }
}
