import { withoutMark } from './json.ts';

/** Number of collected bytes from which they are decoded while the next ones arrive: decoding megabytes at once would take too long. */
const DECODE_FROM = 256 * 1024;
/** Maximum number of bytes of an encoded character that may still be incomplete. */
const MAX_TAIL = 3;

/**
 * Collects the bytes of a text in UTF-8, however small their pieces: a Buffer for each would take a hundred times as much memory. A long text is decoded
 * piece by piece as it arrives.
 */
export class GrowingText {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #size = 0;
  /** What was decoded: a rope, which is made one text where it is first looked into. */
  #text = '';

  /** @param maxBytes total number of bytes, if known */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    if (this.#size === 0) this.#buffer = piece;
    else {
      this.#widen(this.#size + piece.length);
      piece.copy(this.#buffer, this.#size);
    }
    this.#size += piece.length;
    if (this.#size >= DECODE_FROM) this.#decode();
  }

  /** Returns the collected text without the byte order mark that some clients put before JSON. */
  text(): string {
    const rest = this.#buffer.toString('utf8', 0, this.#size);
    return this.#text === '' ? withoutMark(rest) : this.#text + rest;
  }

  clear(): void {
    this.#buffer = Buffer.alloc(0);
    this.#size = 0;
    this.#text = '';
  }

  #decode(): void {
    const end = endOfCharacters(this.#buffer, this.#size);
    const decoded = this.#buffer.toString('utf8', 0, end);
    this.#text = this.#text === '' ? withoutMark(decoded) : this.#text + decoded;
    // Copied: the buffer may be the piece, which belongs to the stream.
    this.#buffer = Buffer.from(this.#buffer.subarray(end, this.#size));
    this.#size = this.#buffer.length;
  }

  #widen(size: number): void {
    if (size <= this.#buffer.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(size, Math.min(this.#maxBytes, 2 * this.#buffer.length, 2 * DECODE_FROM)));
    this.#buffer.copy(wider, 0, 0, this.#size);
    this.#buffer = wider;
  }
}

/** Returns where bytes can be divided without dividing a character: before the first byte of one that may be incomplete. */
function endOfCharacters(bytes: Buffer, size: number): number {
  for (let at = size - 1; at >= size - MAX_TAIL; at--) {
    const byte = bytes[at] as number;
    if (byte < 0x80) return size;
    if (byte >= 0xc0) return at;
  }
  return size;
}
