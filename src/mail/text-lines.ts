/** Text that is put together piece by piece; white space comes to one space, as browsers show it. */
export class TextLines {
  readonly #lines: string[] = [];
  /** The pieces of the line that is written on. */
  #line: string[] = [];
  /** White space has come that only counts where more text follows. */
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

  /** Ends the line, empty or not. */
  end(): void {
    this.#lines.push(this.#line.join(''));
    this.#line = [];
    this.#isSpaced = false;
  }

  /** What follows is on another line than what was before; with 2 there is an empty line between, with 0 nothing changes. */
  apart(lineBreaks: number): void {
    if (lineBreaks === 0) return;
    if (this.#line.length > 0) this.end();
    if (lineBreaks === 2 && this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('');
  }

  /** Whether the last of what was written is this text. */
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
    if (this.#line.length > 0) this.end();
    return `${this.#lines.join('\n').trim()}\n`;
  }
}
