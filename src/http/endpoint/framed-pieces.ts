/**
 * Adds a prefix and a suffix to streamed pieces. Unlike a generator, it forwards `return` even before the first read, so that the source is released
 * when the client disconnects.
 */
export class FramedPieces implements AsyncIterableIterator<string> {
  readonly #pieces: AsyncIterator<string>;
  readonly #suffix: string;
  readonly #onEnd: () => void;
  #prefix: string;
  #over = false;

  /** @param ended called once, when the pieces end or are abandoned */
  constructor(prefix: string, pieces: AsyncIterable<string>, suffix: string, ended: () => void = () => {}) {
    this.#prefix = prefix;
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#suffix = suffix;
    this.#onEnd = ended;
  }

  async next(): Promise<IteratorResult<string>> {
    if (this.#over) return { done: true, value: undefined };
    if (this.#prefix !== '') {
      const value = this.#prefix;
      this.#prefix = '';
      return { done: false, value };
    }
    try {
      const piece = await this.#pieces.next();
      // The client disconnected meanwhile; release what the source opened since.
      if (this.#over) return await this.#leave();
      if (!piece.done) return piece;
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#end();
    return this.#suffix === '' ? { done: true, value: undefined } : { done: false, value: this.#suffix };
  }

  async return(): Promise<IteratorResult<string>> {
    if (this.#over) return { done: true, value: undefined };
    this.#end();
    return await this.#leave();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #leave(): Promise<IteratorResult<string>> {
    await this.#pieces.return?.();
    return { done: true, value: undefined };
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#onEnd();
  }
}
