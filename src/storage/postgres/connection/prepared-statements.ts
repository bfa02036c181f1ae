import { LRUCache } from 'lru-cache';
import type { Parse } from './wire-values.ts';

/** Maximum number of prepared statements of a connection, and of characters of their texts. */
const MAX_STATEMENTS = 500;
const MAX_CHARACTERS = 2_000_000;
/** Maximum length of a text to prepare. */
const MAX_TEXT_CHARACTERS = 50_000;

const limits = { max: MAX_STATEMENTS, maxSize: MAX_CHARACTERS, sizeCalculation: (_: unknown, text: string) => text.length };

/** Statements that can be prepared and benefit from it; the others change the schema or the session. */
const PREPARABLE = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

/** Texts sent recently by any connection of this process. A text is prepared when it is sent for the second time. */
export class RecentTexts {
  readonly #recent = new LRUCache<string, true>({ ...limits, max: 4 * MAX_STATEMENTS });

  /** Whether the text was sent before. Records it otherwise. */
  isRepeated(text: string): boolean {
    if (this.#recent.get(text)) return true;
    if (text.length <= MAX_TEXT_CHARACTERS && PREPARABLE.test(text)) this.#recent.set(text, true);
    return false;
  }
}

/** A statement that a connection has prepared or is about to prepare. */
export interface Prepared {
  readonly name: string;
  /** Parsers of its columns, once it has been executed successfully, which shows that its parameters had the types of its columns. */
  parsers: readonly Parse[] | undefined;
}

/** Prepared statements of one connection. */
export class PreparedStatements {
  readonly #kept: LRUCache<string, Prepared>;
  readonly #texts: RecentTexts;
  #lastNumber = 0;

  /** @param forget called with the name of each evicted statement */
  constructor(texts: RecentTexts, forget: (name: string) => void) {
    this.#texts = texts;
    this.#kept = new LRUCache({ ...limits, dispose: ({ name }: Prepared) => forget(name) });
  }

  /** Returns the prepared statement for a text; `undefined` if it should be sent unnamed. Names are never reused for other texts. */
  of(text: string): Prepared | undefined {
    const known = this.#kept.get(text);
    if (known !== undefined || !this.#texts.isRepeated(text)) return known;
    this.#lastNumber += 1;
    const prepared = { name: `s${this.#lastNumber}`, parsers: undefined };
    this.#kept.set(text, prepared);
    return prepared;
  }

  /** Drops a prepared statement, so that its text is prepared again. Has no effect if it was already replaced. */
  drop(text: string, prepared: Prepared): void {
    if (this.#kept.peek(text) === prepared) this.#kept.delete(text);
  }
}
