import { limits } from '../../../kernel/limits.ts';

/** The text of a cell; `null` for an empty unquoted one, which has no value. */
export type Cell = string | null;

/** A row of a CSV text. */
export interface CsvRow {
  /** From 1, counting the header and empty lines, like the rows of a spreadsheet. */
  readonly number: number;
  readonly cells: readonly Cell[];
  /** Syntax fault; `null` if there is none. */
  readonly fault: CsvFault | null;
  /** Number of characters. */
  readonly length: number;
}

export type CsvFault = 'tooLong' | 'quoteInCell' | 'textAfterQuote';

const QUOTE = 34;
const COMMA = 44;
const NEWLINE = 10;
const RETURN = 13;

/** Parser state: at the start of a cell, inside one, inside a quoted one, or after a quote inside a quoted one. */
type State = 'start' | 'plain' | 'quoted' | 'closing';

/**
 * Incremental CSV parser by RFC 4180. A fault affects only its row; the next row begins at the next line end outside quotes. Empty lines are skipped.
 * Memory holds one row; the text of a row longer than a request body is discarded.
 *
 * CSV packages stop at a faulty row or lose those after it, or detect faulty quotes at several times the cost.
 */
export class CsvReader {
  #state: State = 'start';
  #number = 1;
  #cells: Cell[] = [];
  #text = '';
  #isQuoted = false;
  #fault: CsvFault | null = null;
  #length = 0;
  /** A following line feed belongs to the carriage return. */
  #isAfterReturn = false;

  /** Parses a piece of text. @returns the rows that end in it */
  take(text: string): CsvRow[] {
    const rows: CsvRow[] = [];
    let at = 0;
    if (this.#isAfterReturn && text !== '') {
      this.#isAfterReturn = false;
      if (text.charCodeAt(0) === NEWLINE) at = 1;
    }
    while (at < text.length) {
      const from = at;
      at = this.#step(text, at, rows);
      // A piece that ends the row was counted by `#plain`.
      if (this.#state !== 'start' || this.#cells.length > 0) this.#grow(at - from);
    }
    return rows;
  }

  /** Must be called after the last piece. @returns the last row if no line end follows it, and the number of a row with an unclosed quote */
  end(): { readonly rows: readonly CsvRow[]; readonly openQuote: number | null } {
    if (this.#state === 'quoted') return { rows: [], openQuote: this.#number };
    const rows: CsvRow[] = [];
    if (this.#state !== 'start' || this.#cells.length > 0) this.#endRow(rows);
    return { rows, openQuote: null };
  }

  /** @returns the position of the next step */
  #step(text: string, at: number, rows: CsvRow[]): number {
    if (this.#state === 'quoted') {
      const end = text.indexOf('"', at);
      this.#add(text.slice(at, end < 0 ? text.length : end));
      if (end < 0) return text.length;
      this.#state = 'closing';
      return end + 1;
    }
    const code = text.charCodeAt(at);
    if (this.#state === 'start' && code === QUOTE) {
      this.#state = 'quoted';
      this.#isQuoted = true;
      return at + 1;
    }
    if (this.#state === 'closing') {
      if (code === QUOTE) {
        this.#add('"');
        this.#state = 'quoted';
        return at + 1;
      }
      if (code !== COMMA && code !== NEWLINE && code !== RETURN) this.#fault ??= 'textAfterQuote';
    }
    this.#state = 'plain';
    return this.#plain(text, at, rows);
  }

  #plain(text: string, from: number, rows: CsvRow[]): number {
    let end = from;
    let code = 0;
    for (; end < text.length; end++) {
      code = text.charCodeAt(end);
      if (code === COMMA || code === NEWLINE || code === RETURN || code === QUOTE) break;
    }
    if (end > from) this.#add(text.slice(from, end));
    if (end === text.length) return end;
    if (code === QUOTE) {
      this.#fault ??= 'quoteInCell';
      return end + 1;
    }
    if (code === COMMA) {
      this.#endCell();
      return end + 1;
    }
    this.#grow(end - from);
    this.#endRow(rows);
    if (code === NEWLINE) return end + 1;
    if (end + 1 === text.length) this.#isAfterReturn = true;
    return text.charCodeAt(end + 1) === NEWLINE ? end + 2 : end + 1;
  }

  #add(text: string): void {
    if (this.#fault !== 'tooLong') this.#text = this.#text === '' ? text : this.#text + text;
  }

  #grow(by: number): void {
    this.#length += by;
    if (this.#length <= limits.bodyBytes) return;
    this.#fault = 'tooLong';
    this.#text = '';
    // Not empty, so that the row is not skipped as an empty line.
    this.#cells = [null];
  }

  #endCell(): void {
    if (this.#fault !== 'tooLong') this.#cells.push(this.#text === '' && !this.#isQuoted ? null : this.#text);
    this.#text = '';
    this.#isQuoted = false;
    this.#state = 'start';
  }

  #endRow(rows: CsvRow[]): void {
    this.#endCell();
    const cells = this.#cells;
    const isEmpty = cells.length === 1 && cells[0] === null && this.#fault === null;
    if (!isEmpty) {
      const isLost = this.#fault === 'tooLong';
      rows.push({ number: this.#number, cells: isLost ? [] : cells, fault: this.#fault, length: this.#length });
    }
    this.#number++;
    this.#cells = [];
    this.#fault = null;
    this.#length = 0;
  }
}
