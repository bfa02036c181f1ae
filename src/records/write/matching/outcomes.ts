import type { ServiceError } from '../../../errors/fail.ts';
import { type JsonObject, omitUndefined } from '../../../kernel/json.ts';

/** Maximum number of refused records that an answer lists, and characters of their ids and errors together; the others are counted. */
export const MAX_LISTED = 1_000;
const MAX_LISTED_LENGTH = 4 * 1024 * 1024;

/** What became of the records of a write by `where`. */
export class Outcomes {
  readonly matched: number;
  #written = 0;
  #refused = 0;
  readonly #listed: JsonObject[] = [];
  #length = 0;

  constructor(matched: number) {
    this.matched = matched;
  }

  /** Number of records written so far. */
  get written(): number {
    return this.#written;
  }

  /** Counts a record that was written. */
  count(): void {
    this.#written++;
  }

  /** Counts a record that was not written, and lists it with the members of the single write's error. */
  refuse(objectId: string, { code, message, details }: ServiceError): void {
    this.#refused++;
    this.#length += objectId.length + message.length;
    if (this.#listed.length < MAX_LISTED && this.#length <= MAX_LISTED_LENGTH)
      this.#listed.push(omitUndefined({ objectId, code, error: message || undefined, ...details }));
  }

  /** Returns the members of an answer. `refusedCount` is there if not all refused records are listed. */
  answer(): { readonly refused: readonly JsonObject[]; readonly refusedCount?: number } {
    const isCut = this.#listed.length < this.#refused;
    return { refused: this.#listed, ...(isCut && { refusedCount: this.#refused }) };
  }
}
