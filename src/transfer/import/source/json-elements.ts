import { limits } from '../../../kernel/limits.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Line } from './lines.ts';

/**
 * Location of the records in a JSON file: elements of a list (`list`), of the member `results` of an object as in answers of Parse (`results`), or
 * concatenated objects (`file`). A file may contain several of them.
 */
export type Holder = 'list' | 'results' | 'file';

const [newline, quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket] = [...'\n"\\,{}[]'].map((one) =>
  one.charCodeAt(0),
);

/**
 * Returns the records of a JSON file as texts, in blocks. Memory holds at most one chunk and one record.
 * @param chunks UTF-8 bytes, split anywhere
 * @throws OperatorError if the file is truncated, or contains anything besides its lists
 */
export async function* readElements(chunks: AsyncIterable<Buffer>, holder: Holder): AsyncGenerator<readonly Line[]> {
  const scanner = new ElementScanner(holder);
  for await (const chunk of chunks) yield scanner.take(chunk);
  yield scanner.rest();
  if (scanner.depth !== 0) throw new OperatorError('the file is cut off: it ends in the middle of its JSON');
}

const depths: Readonly<Record<Holder, number>> = { file: 0, list: 1, results: 2 };

class ElementScanner {
  depth = 0;
  readonly #holder: Holder;
  /** Depth of the container of the records. */
  readonly #depth: number;
  #inText = false;
  #isEscaped = false;
  /** The last string of the outer object: the key of the value that follows. */
  #key = '';
  #keyBytes: number[] = [];
  #isHeld: boolean;
  /** Parts of the current element. */
  #parts: Buffer[] = [];
  #bytes = 0;
  #isOpen = false;

  constructor(holder: Holder) {
    this.#holder = holder;
    this.#depth = depths[holder];
    this.#isHeld = holder === 'file';
  }

  /** Returns an element that is not followed by a delimiter. */
  rest(): Line[] {
    const lines: Line[] = [];
    if (this.#isOpen && this.depth === 0) this.#end(Buffer.alloc(0), lines);
    return lines;
  }

  take(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#inText) this.#text(byte);
      else if (this.depth === 0 && this.#isStray(byte))
        throw new OperatorError('something else than records stands beside the list of the file. Nothing was imported');
      else if (byte === quote) this.#beginText();
      else if (byte === openBrace || byte === openBracket) {
        this.depth++;
        if (this.depth === this.#depth) {
          this.#isHeld = byte === openBracket && (this.#holder === 'list' || this.#key === 'results');
          continue;
        }
      } else if (byte === closeBrace || byte === closeBracket) {
        this.depth--;
        // A top-level object includes its closing brace.
        const end = this.#depth === 0 ? at + 1 : at;
        if (this.#isOpen && this.depth === Math.max(this.#depth - 1, 0)) {
          this.#end(chunk.subarray(start, end), lines);
          continue;
        }
      } else if ((byte === comma || (byte === newline && this.#depth === 0)) && this.depth === this.#depth && this.#isOpen) {
        this.#end(chunk.subarray(start, at), lines);
        continue;
      }
      if (!this.#isOpen && this.#isHeld && this.depth >= this.#depth && byte > 32 && byte !== comma && !isMark(byte)) {
        this.#isOpen = true;
        start = at;
      }
    }
    if (this.#isOpen) this.#keep(chunk.subarray(start));
    return lines;
  }

  /** Whether a byte appears where only the start of a container is allowed. */
  #isStray(byte: number): boolean {
    return this.#holder !== 'file' && byte > 32 && byte !== (this.#holder === 'list' ? openBracket : openBrace) && !isMark(byte);
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

/** Bytes of the UTF-8 byte order mark. */
const isMark = (byte: number): boolean => byte === 0xef || byte === 0xbb || byte === 0xbf;
