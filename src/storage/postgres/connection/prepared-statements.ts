import { LRUCache } from 'lru-cache';

/** Prepared statements that a connection keeps, and the characters of their texts. */
const MAX_STATEMENTS = 500;
const MAX_CHARACTERS = 2_000_000;
/** Longer texts are not kept. */
const MAX_TEXT = 50_000;

const bounds = { max: MAX_STATEMENTS, maxSize: MAX_CHARACTERS, sizeCalculation: (_: unknown, text: string) => text.length };

/** Statements that can be prepared and are worth it; the others change the schema or the session. */
const PREPARABLE = /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i;

/** The texts that were sent of late, by all connections of a process: what comes a second time is worth being kept. */
export class RecentTexts {
  readonly #seen = new LRUCache<string, true>({ ...bounds, max: 4 * MAX_STATEMENTS });

  /** Whether the text comes again. */
  isRepeated(text: string): boolean {
    if (this.#seen.get(text)) return true;
    if (text.length <= MAX_TEXT && PREPARABLE.test(text)) this.#seen.set(text, true);
    return false;
  }
}

/** A statement that a connection has prepared, or is about to. */
export interface Prepared {
  readonly name: string;
  /** Whether it has been carried out as it is prepared: with parameters of the types that its columns had. */
  isProven: boolean;
}

/** One connection's prepared statements. */
export class PreparedStatements {
  readonly #kept: LRUCache<string, Prepared>;
  readonly #texts: RecentTexts;
  #last = 0;

  /** @param forget called with the name of a statement that is no longer kept */
  constructor(texts: RecentTexts, forget: (name: string) => void) {
    this.#texts = texts;
    this.#kept = new LRUCache({ ...bounds, dispose: ({ name }: Prepared) => forget(name) });
  }

  /** The statement that a text is, or will be, prepared as; `undefined` where it is to be sent unnamed. No name is ever used for another text. */
  of(text: string): Prepared | undefined {
    const known = this.#kept.get(text);
    if (known !== undefined || !this.#texts.isRepeated(text)) return known;
    this.#last += 1;
    const prepared = { name: `s${this.#last}`, isProven: false };
    this.#kept.set(text, prepared);
    return prepared;
  }

  /** The next statement of this text is prepared anew, if this is still the one. */
  drop(text: string, prepared: Prepared): void {
    if (this.#kept.peek(text) === prepared) this.#kept.delete(text);
  }
}
