import { setImmediate as turn } from 'node:timers/promises';
import { endOfPiece } from '../../../values/rows/row-pieces.ts';
import type { JsonText } from '../../port.ts';

/** Characters of an answer that go out in one piece; a shorter answer is one text. */
const PIECE_LENGTH = 32 * 1024;
/** At the most, however large a record is. */
const MAX_PIECE_LENGTH = 128 * 1024;
/** Characters that are made before the client takes them: most answers are all made then, and their connection is free. */
const MAX_AHEAD = 1024 * 1024;

/**
 * A JSON array of records that come page by page.
 * @param pages JSON text of the records in pieces, commas with it; returned when nobody wants more
 * @throws the error of the pages where it comes before the first piece
 */
export async function jsonArray(pages: AsyncGenerator<string>): Promise<JsonText> {
  return answerOf(new Answer(pages, '[', ']'));
}

/** The text of the one record that there is; empty where there is none. */
export async function jsonRecord(pages: AsyncGenerator<string>): Promise<JsonText> {
  return answerOf(new Answer(pages, '', ''));
}

async function answerOf(answer: Answer): Promise<JsonText> {
  await answer.begun();
  return answer.whole() ?? answer;
}

/** An answer that is made ahead of its client, so far and no further. */
class Answer implements AsyncIterableIterator<string> {
  readonly #pages: AsyncGenerator<string>;
  #pieces: string[] = [];
  /** Characters in `#pieces`. */
  #waiting = 0;
  #text: string;
  readonly #end: string;
  #ended = false;
  /** Nobody wants the rest. */
  #left = false;
  #error: unknown;
  /** Wakes the reader that waits for a piece, and the writer that waits for room. */
  #onPiece: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(pages: AsyncGenerator<string>, begin: string, end: string) {
    this.#pages = pages;
    this.#text = begin;
    this.#end = end;
    void this.#make();
  }

  async begun(): Promise<void> {
    await this.#somePiece();
    if (this.#error !== undefined) throw this.#error;
  }

  /** All of it, where it is one piece. */
  whole(): string | null {
    if (!this.#ended || this.#pieces.length > 1) return null;
    return this.#pieces[0] ?? '';
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
      for await (const piece of this.#pages) {
        if (this.#left) break;
        this.#text += piece;
        if (this.#text.length < PIECE_LENGTH) continue;
        const isLarge = this.#text.length >= MAX_PIECE_LENGTH;
        this.#push();
        // Others have their turn between the pieces of a large record.
        if (isLarge) await turn();
        if (this.#waiting >= MAX_AHEAD) await this.#room();
        if (this.#left) break;
      }
      this.#text += this.#end;
      if (!this.#left) this.#push();
    } catch (error) {
      this.#error ??= error;
    }
    this.#ended = true;
    this.#onPiece?.();
  }

  #push(): void {
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      const end = endOfPiece(text, at, MAX_PIECE_LENGTH);
      this.#pieces.push(text.slice(at, end));
      at = end;
    }
    this.#waiting += text.length;
    this.#text = '';
    this.#onPiece?.();
  }

  /** Waits until the client has taken some. How long it may take is the cursor's to say, whose connection waits too. */
  async #room(): Promise<void> {
    while (this.#waiting >= MAX_AHEAD && !this.#left)
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
