import { limits } from '../../kernel/limits.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Line } from './lines.ts';

/** How an export of Parse begins, as text: an answer of its REST interface, which holds nothing but records and their count. */
const beginning = /^\uFEFF?\s*\{\s*(?:"count"\s*:\s*\d+\s*,\s*)?"results"\s*:\s*\[/;

/** Whether a file that begins so is an export of Parse (CONTRACT "Export, import, migration"). */
export function isParseExport(start: string): boolean {
  return beginning.test(start);
}

const [quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket] = [...'"\\,{}[]'].map((one) =>
  one.charCodeAt(0),
);

/**
 * The records of an export of Parse, as texts, block by block: the elements of `results` of each object of the file. Memory holds no more
 * than one chunk and one record.
 * @param chunks the bytes, cut anywhere
 * @throws OperatorError where the file ends in the middle
 */
export async function* readResults(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  const scanner = new ResultsScanner();
  for await (const chunk of chunks) yield scanner.take(chunk);
  if (scanner.depth > 0) throw new OperatorError('the export ends in the middle: the file is cut off');
}

/** Depth of an element of `results`: it stands in an array, in an object. */
const ELEMENT_DEPTH = 2;

class ResultsScanner {
  depth = 0;
  #inText = false;
  #isEscaped = false;
  /** The last text of the outer object: the key of what follows. */
  #key = '';
  #keyBytes: number[] = [];
  #isResults = false;
  /** Of the element that is being read. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #isOpen = false;

  take(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#inText) this.#text(byte);
      else if (byte === quote) this.#beginText();
      else if (byte === openBrace || byte === openBracket) {
        this.depth++;
        if (this.depth === ELEMENT_DEPTH) {
          this.#isResults = byte === openBracket && this.#key === 'results';
          continue;
        }
      } else if (byte === closeBrace || byte === closeBracket) {
        this.depth--;
        if (this.depth === ELEMENT_DEPTH - 1 && this.#isOpen) this.#end(chunk.subarray(start, at), lines);
      } else if (byte === comma && this.depth === ELEMENT_DEPTH && this.#isOpen) {
        this.#end(chunk.subarray(start, at), lines);
        continue;
      }
      if (!this.#isOpen && this.#isResults && this.depth >= ELEMENT_DEPTH && byte > 32 && byte !== comma) {
        this.#isOpen = true;
        start = at;
      }
    }
    if (this.#isOpen) this.#keep(chunk.subarray(start));
    return lines;
  }

  #beginText(): void {
    this.#inText = true;
    this.#keyBytes = [];
  }

  #text(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) {
      this.#inText = false;
      if (this.depth === 1) this.#key = Buffer.from(this.#keyBytes).toString();
      return;
    }
    if (this.depth === 1 && this.#keyBytes.length < 'results'.length + 1) this.#keyBytes.push(byte);
  }

  #keep(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > limits.bodyBytes) this.#parts = [];
    else this.#parts.push(Buffer.from(part));
  }

  #end(part: Buffer, lines: Line[]): void {
    this.#keep(part);
    lines.push(this.#bytes > limits.bodyBytes ? null : Buffer.concat(this.#parts).toString());
    this.#parts = [];
    this.#bytes = 0;
    this.#isOpen = false;
  }
}
