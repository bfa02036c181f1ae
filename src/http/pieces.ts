/**
 * Pieces with a text before and after them. Unlike a generator it hands `return` on even where nothing was read yet, so that what stands
 * behind the pieces is let go of when the client has left.
 */
export class FramedPieces implements AsyncIterableIterator<string> {
  readonly #pieces: AsyncIterator<string>;
  readonly #suffix: string;
  readonly #ended: () => void;
  #prefix: string;
  #over = false;

  /** @param ended called once, when the pieces have come to their end or are no longer wanted */
  constructor(prefix: string, pieces: AsyncIterable<string>, suffix: string, ended: () => void = () => {}) {
    this.#prefix = prefix;
    this.#pieces = pieces[Symbol.asyncIterator]();
    this.#suffix = suffix;
    this.#ended = ended;
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
      // The client left meanwhile; what was made since is to be let go of too.
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
    this.#ended();
  }
}
