/** Reads `_AdminLog` as an operator does. */
import assert from 'node:assert/strict';
import type { Json, Store } from '../support/records.ts';

type Caller = Pick<Store, 'call'>;

/** Returns all rows, in the order of creation. */
export async function actsOf({ call }: Caller): Promise<Json[]> {
  const { status, text, body } = await call('GET', '/platform/classes/_AdminLog', { query: { limit: 10_000 } });
  assert.equal(status, 200, text);
  return body.results;
}

/** Returns what a row says, without who acted and when; a side that the row lacks is `null`. */
export const told = ({ act, subject, before = null, after = null }: Json): Json => [act, subject, before, after];

/** Takes the rows that are new since it was last asked. */
export class NewActs {
  readonly #store: Caller;
  #seen = new Set<string>();

  constructor(store: Caller) {
    this.#store = store;
  }

  async take(): Promise<Json[]> {
    const rows = await actsOf(this.#store);
    const added = rows.filter(({ objectId }) => !this.#seen.has(objectId));
    this.#seen = new Set(rows.map(({ objectId }) => objectId));
    return added;
  }
}
