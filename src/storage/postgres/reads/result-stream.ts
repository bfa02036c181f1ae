import { setImmediate as turn } from 'node:timers/promises';
import { endOfPiece } from '../../../kernel/json.ts';
import type { JsonText } from '../../port.ts';
import type { CountedText } from '../../reader.ts';

/** Characters after which a chunk is sent; a shorter answer is one text. */
const CHUNK_LENGTH = 32 * 1024;
/** Maximum characters of a chunk, even within a large record. */
const MAX_CHUNK_LENGTH = 128 * 1024;
/** Characters produced ahead of the client (read-ahead limit). Most answers fit, so their connection is released early. */
const MAX_AHEAD = 1024 * 1024;

/** Counts the records of an answer while it is made. */
export interface Tally {
  records: number;
}

/**
 * Streams a JSON array of records that arrive page by page.
 * @param pages JSON text of the records in pieces, including commas; returned when the client stops reading
 * @throws the error of the pages if it occurs before the first chunk
 */
export async function jsonArray(pages: AsyncGenerator<string>, tally: Tally = { records: 0 }): Promise<JsonText> {
  return answerOf(new Answer(pages, '[', ']', tally));
}

/** Streams the text of a single record; empty if there is none. */
export async function jsonRecord(pages: AsyncGenerator<string>): Promise<JsonText> {
  return answerOf(new Answer(pages, '', '', { records: 1 }));
}

async function answerOf(answer: Answer): Promise<JsonText> {
  await answer.waitForStart();
  return answer.whole() ?? answer;
}

/** An answer produced ahead of its client, up to `MAX_AHEAD` characters. */
class Answer implements AsyncIterableIterator<string>, CountedText {
  readonly #pages: AsyncGenerator<string>;
  #chunks: string[] = [];
  /** Characters in `#chunks`. */
  #bufferedLength = 0;
  #text: string;
  readonly #end: string;
  readonly #tally: Tally;
  #ended = false;
  /** The client has stopped reading. */
  #isAbandoned = false;
  #error: unknown;
  /** Wakes the reader, which waits for a chunk, and the writer, which waits for room. */
  #onChunk: (() => void) | undefined;
  #onRoom: (() => void) | undefined;

  constructor(pages: AsyncGenerator<string>, begin: string, end: string, tally: Tally) {
    this.#pages = pages;
    this.#tally = tally;
    this.#text = begin;
    this.#end = end;
    void this.#make();
  }

  get records(): number {
    return this.#tally.records;
  }

  async waitForStart(): Promise<void> {
    await this.#waitForChunk();
    if (this.#error !== undefined) throw this.#error;
  }

  /** Returns the whole text if it is at most one chunk, else `null`. */
  whole(): string | null {
    if (!this.#ended || this.#chunks.length > 1) return null;
    return this.#chunks[0] ?? '';
  }

  async next(): Promise<IteratorResult<string>> {
    if (!this.#isAbandoned) await this.#waitForChunk();
    const value = this.#isAbandoned ? undefined : this.#chunks.shift();
    if (value !== undefined) {
      this.#bufferedLength -= value.length;
      this.#onRoom?.();
      return { done: false, value };
    }
    if (this.#error !== undefined) throw this.#error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<string>> {
    this.#abandon();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #waitForChunk(): Promise<void> {
    while (this.#chunks.length === 0 && !this.#ended)
      await new Promise<void>((wake) => {
        this.#onChunk = wake;
      });
  }

  async #make(): Promise<void> {
    try {
      for await (const piece of this.#pages) {
        if (this.#isAbandoned) break;
        this.#text += piece;
        if (this.#text.length < CHUNK_LENGTH) continue;
        const isLarge = this.#text.length >= MAX_CHUNK_LENGTH;
        this.#push();
        // Yield to the event loop between the chunks of a large record.
        if (isLarge) await turn();
        if (this.#bufferedLength >= MAX_AHEAD) await this.#waitForRoom();
        if (this.#isAbandoned) break;
      }
      this.#text += this.#end;
      if (!this.#isAbandoned) this.#push();
    } catch (error) {
      this.#error ??= error;
    }
    this.#ended = true;
    this.#onChunk?.();
  }

  #push(): void {
    const text = this.#text;
    for (let at = 0; at < text.length; ) {
      const end = endOfPiece(text, at, MAX_CHUNK_LENGTH);
      this.#chunks.push(text.slice(at, end));
      at = end;
    }
    this.#bufferedLength += text.length;
    this.#text = '';
    this.#onChunk?.();
  }

  /** Waits until the client has taken enough. The cursor limits that time, since its connection waits too. */
  async #waitForRoom(): Promise<void> {
    while (this.#bufferedLength >= MAX_AHEAD && !this.#isAbandoned)
      await new Promise<void>((wake) => {
        this.#onRoom = wake;
      });
  }

  #abandon(): void {
    this.#isAbandoned = true;
    this.#chunks = [];
    this.#text = '';
    this.#bufferedLength = 0;
    this.#onRoom?.();
    this.#onChunk?.();
  }
}
