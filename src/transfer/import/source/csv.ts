import { limits } from '../../../kernel/limits.ts';

/** A cell as it was read; `null` for one that is empty and not in quotes: it has no value. */
export type Cell = string | null;

/** A row of a CSV text. */
export interface CsvRow {
  /** From 1, the header and empty lines counted, as a spreadsheet counts its rows. */
  readonly number: number;
  readonly cells: readonly Cell[];
  /** What is wrong with its form; `null`: nothing. */
  readonly fault: CsvFault | null;
  /** Characters. */
  readonly length: number;
}

export type CsvFault = 'tooLong' | 'quoteInCell' | 'textAfterQuote';

const QUOTE = 34;
const COMMA = 44;
const NEWLINE = 10;
const RETURN = 13;

/** Where the next character stands: at the beginning of a cell, in one, in a quoted one, behind a quote in a quoted one. */
type Place = 'start' | 'plain' | 'quoted' | 'closing';

/**
 * Reads CSV as RFC 4180 has it, piece by piece. What is wrong with a row is told of it alone: the next one begins at the next line end that is
 * not in quotes. Empty lines are passed over. Memory holds one row: the text of one that is longer than the body of a request is let go.
 *
 * Parsers of packages end at such a row, or lose those after it, and tell of quotes at several times the cost.
 */
export class CsvReader {
  #place: Place = 'start';
  #number = 1;
  #cells: Cell[] = [];
  #text = '';
  #isQuoted = false;
  #fault: CsvFault | null = null;
  #length = 0;
  /** A line feed belongs to the return before it. */
  #isAfterReturn = false;

  /** @returns the rows that end in it */
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
      // A piece that ends the row was counted before.
      if (this.#place !== 'start' || this.#cells.length > 0) this.#grow(at - from);
    }
    return rows;
  }

  /** To be called after the last piece. @returns the last row, where no line end follows it, and the number of a row with a quote that is never closed */
  end(): { readonly rows: readonly CsvRow[]; readonly openQuote: number | null } {
    if (this.#place === 'quoted') return { rows: [], openQuote: this.#number };
    const rows: CsvRow[] = [];
    if (this.#place !== 'start' || this.#cells.length > 0) this.#endRow(rows);
    return { rows, openQuote: null };
  }

  /** @returns where the next step begins */
  #step(text: string, at: number, rows: CsvRow[]): number {
    if (this.#place === 'quoted') {
      const end = text.indexOf('"', at);
      this.#add(text.slice(at, end < 0 ? text.length : end));
      if (end < 0) return text.length;
      this.#place = 'closing';
      return end + 1;
    }
    const code = text.charCodeAt(at);
    if (this.#place === 'start' && code === QUOTE) {
      this.#place = 'quoted';
      this.#isQuoted = true;
      return at + 1;
    }
    if (this.#place === 'closing') {
      if (code === QUOTE) {
        this.#add('"');
        this.#place = 'quoted';
        return at + 1;
      }
      if (code !== COMMA && code !== NEWLINE && code !== RETURN) this.#fault ??= 'textAfterQuote';
    }
    this.#place = 'plain';
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
    // Not empty, so that the row is seen.
    this.#cells = [null];
  }

  #endCell(): void {
    if (this.#fault !== 'tooLong') this.#cells.push(this.#text === '' && !this.#isQuoted ? null : this.#text);
    this.#text = '';
    this.#isQuoted = false;
    this.#place = 'start';
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
