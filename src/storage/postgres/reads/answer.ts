import type { JsonText } from '../../port.ts';

/** Characters of an answer that go out in one piece; a shorter answer is one text. */
const PIECE = 32 * 1024;
/** Characters that are made before the client takes them: most answers are all made then, and their connection is free. */
const AHEAD = 1024 * 1024;

/**
 * A JSON array of records that come page by page.
 * @param pages JSON text of some records each, comma-separated; returned when nobody wants more
 * @throws the error of the pages where it comes before the first piece
 */
export async function jsonArray(pages: AsyncGenerator<string>): Promise<JsonText> {
  const answer = new Answer(pages);
  await answer.begun();
  return answer.whole() ?? answer;
}

/** An answer that is made ahead of its client, so far and no further. */
class Answer implements AsyncIterableIterator<string> {
  readonly #pages: AsyncGenerator<string>;
  #pieces: string[] = [];
  /** Characters in `#pieces`. */
  #waiting = 0;
  #text = '[';
  #ended = false;
  /** Nobody wants the rest. */
  #left = false;
  #error: unknown;
  /** Wakes who waits for a piece, and who waits for room. */
  #onPiece: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(pages: AsyncGenerator<string>) {
    this.#pages = pages;
    void this.#make();
  }

  async begun(): Promise<void> {
    await this.#somePiece();
    if (this.#error !== undefined) throw this.#error;
  }

  /** All of it, where it is one piece. */
  whole(): string | null {
    return this.#ended && this.#pieces.length === 1 ? (this.#pieces[0] as string) : null;
  }

  async next(): Promise<IteratorResult<string>> {
    if (!this.#left) await this.#somePiece();
    const value = this.#left ? undefined : this.#pieces.shift();
    if (value !== undefined) {
      this.#waiting -= value.length;
      this.#onRoom?.();
      return { done: false, value };
    }
    if (this.#error !== undefined) throw this.#error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<string>> {
    this.#leave();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #somePiece(): Promise<void> {
    while (this.#pieces.length === 0 && !this.#ended)
      await new Promise<void>((wake) => {
        this.#onPiece = wake;
      });
  }

  async #make(): Promise<void> {
    try {
      let first = true;
      for await (const page of this.#pages) {
        if (this.#left) break;
        this.#text += first ? page : `,${page}`;
        first = false;
        if (this.#text.length < PIECE) continue;
        this.#push();
        if (this.#waiting >= AHEAD) await this.#room();
        if (this.#left) break;
      }
      this.#text += ']';
      if (!this.#left) this.#push();
    } catch (error) {
      this.#error ??= error;
    }
    this.#ended = true;
    this.#onPiece?.();
  }

  #push(): void {
    this.#pieces.push(this.#text);
    this.#waiting += this.#text.length;
    this.#text = '';
    this.#onPiece?.();
  }

  /** Waits until the client has taken some. How long it may take is the cursor's to say, whose connection waits too. */
  async #room(): Promise<void> {
    while (this.#waiting >= AHEAD && !this.#left)
      await new Promise<void>((wake) => {
        this.#onRoom = wake;
      });
  }

  #leave(): void {
    this.#left = true;
    this.#pieces = [];
    this.#text = '';
    this.#waiting = 0;
    this.#onRoom?.();
    this.#onPiece?.();
  }
}
