import { OperatorError } from '../../../kernel/operator-error.ts';

/** Maximum size of a record. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;
/** Number of bytes that determine the format. */
const HEAD_BYTES = 1_024;

const exported = /^(?:\u{FEFF})?\s*\{\s*"results"\s*:\s*\[/u;
const [quote, backslash, open, close, begin, end, comma] = Array.from('"\\{}[],', (mark) => mark.charCodeAt(0));
const isSpace = (byte: number) => byte === 32 || (byte >= 9 && byte <= 13);

/**
 * Returns the records of a JSON file as texts: a Parse export (`{"results":[…]}`), an array, or concatenated objects as written by mongoexport.
 * @throws OperatorError if it is none of these or is truncated
 */
export async function* jsonRecords(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<string> {
  const splitter = new Splitter(name);
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === null) {
      yield* splitter.take(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < HEAD_BYTES) continue;
    yield* splitter.begin(head);
    head = null;
  }
  if (head !== null) yield* splitter.begin(head);
  splitter.finish();
}

class Splitter {
  readonly #name: string;
  /** Depth of the records. */
  #base = 0;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** Pieces of the current record. */
  #pieces: Buffer[] | null = null;
  #size = 0;
  #isOver = false;

  constructor(name: string) {
    this.#name = name;
  }

  begin(head: Buffer): Iterable<string> {
    const text = head.toString('utf8', 0, HEAD_BYTES).replace(/^\uFEFF/, '');
    this.#base = exported.test(text) ? 2 : text.trimStart().startsWith('[') ? 1 : 0;
    return this.take(head[0] === 0xef ? head.subarray(3) : head);
  }

  *take(chunk: Buffer): Generator<string> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isText = false;
        continue;
      }
      const isInside = this.#pieces !== null;
      if (
        !isInside &&
        this.#depth === this.#base &&
        !this.#isOver &&
        byte !== open &&
        byte !== end &&
        byte !== comma &&
        !isSpace(byte)
      )
        throw this.#broken('holds something else than objects');
      if (byte === quote) this.#isText = true;
      else if (byte === open || byte === begin) {
        if (!isInside && byte === open && this.#depth === this.#base && !this.#isOver) {
          this.#pieces = [];
          this.#size = 0;
          from = at;
        }
        this.#depth++;
      } else if (byte === close || byte === end) {
        this.#depth--;
        if (this.#depth < this.#base) this.#isOver = true;
        if (this.#pieces === null || this.#depth > this.#base) continue;
        this.#pieces.push(chunk.subarray(from, at + 1));
        const text = Buffer.concat(this.#pieces).toString();
        this.#pieces = null;
        yield text;
      }
    }
    if (this.#pieces === null) return;
    this.#pieces.push(chunk.subarray(from));
    this.#size += chunk.length - from;
    if (this.#size > MAX_RECORD_BYTES) throw this.#broken('holds an object of more than 64 MB');
  }

  finish(): void {
    if (this.#pieces !== null || this.#isText || (this.#base > 0 && !this.#isOver)) throw this.#broken('ends in the middle');
  }

  #broken(what: string): OperatorError {
    return new OperatorError(`--from: ${this.#name} ${what}`);
  }
}
