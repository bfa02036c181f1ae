/** Bytes that are put together while they come, however small their pieces: a Buffer for each would take a hundred times as much. */
export class GrowingBuffer {
  readonly #most: number;
  #buffer: Buffer = Buffer.alloc(0);
  #size = 0;

  /** @param most as many of them as there are to be, where that is known */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    if (this.#size === 0) this.#buffer = piece;
    else {
      this.#widen(this.#size + piece.length);
      piece.copy(this.#buffer, this.#size);
    }
    this.#size += piece.length;
  }

  /** What has come, decoded from UTF-8. */
  text(): string {
    return this.#buffer.toString('utf8', 0, this.#size);
  }

  clear(): void {
    this.#buffer = Buffer.alloc(0);
    this.#size = 0;
  }

  #widen(size: number): void {
    if (size <= this.#buffer.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(size, Math.min(this.#most, 2 * this.#buffer.length)));
    this.#buffer.copy(wider, 0, 0, this.#size);
    this.#buffer = wider;
  }
}
