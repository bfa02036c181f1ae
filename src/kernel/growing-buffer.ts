/** Collects incoming bytes, however small their pieces: a Buffer for each would take a hundred times as much memory. */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #size = 0;

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
  }

  /** Returns the collected bytes, decoded from UTF-8. */
  text(): string {
    return this.#buffer.toString('utf8', 0, this.#size);
  }

  clear(): void {
    this.#buffer = Buffer.alloc(0);
    this.#size = 0;
  }

  #widen(size: number): void {
    if (size <= this.#buffer.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(size, Math.min(this.#maxBytes, 2 * this.#buffer.length)));
    this.#buffer.copy(wider, 0, 0, this.#size);
    this.#buffer = wider;
  }
}
