import { emailKey, loginKey } from '../../../kernel/login-key.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Store } from '../../../storage/port.ts';
import type { ParseRecord } from '../source/source.ts';
import { holdersOf } from './known-ids.ts';
import type { MappedRecord } from './record-mapper.ts';

/** Number of bits of the filter of names: 8 MiB, independent of the number of users. */
const BITS = 2 ** 26;
/** Maximum number of names in a message. */
const MAX_NAMES = 10;
/** Key fields with the fields that they are derived from. */
const keyFields = [
  ['_username_key', 'username'],
  ['_email_key', 'email'],
] as const;

/** Finds users whose login names or addresses are used by other users: of this system, or earlier in the source. */
export class SharedNames {
  readonly #filter = new Uint8Array(BITS / 8);
  /** Keys that the filter reports as repeated; some are false positives. */
  readonly #suspects = new Set<string>();
  /** Users of this system by a key that a user of the source has as well. */
  readonly #holders = new Map<string, string>();

  async add(store: Store, batch: readonly MappedRecord[]): Promise<void> {
    for (const [field, kind] of keyFields) {
      const owners = new Map<string, string>();
      for (const { objectId, values } of batch) {
        const key = values.get(field);
        if (typeof key !== 'string') continue;
        owners.set(key, objectId);
        if (this.#testAndSet(`${kind} ${key}`)) this.#suspects.add(`${kind} ${key}`);
      }
      for (const [key, id] of await holdersOf(store, '_User', field, [...owners.keys()]))
        if (owners.get(key) !== id) this.#holders.set(`${kind} ${key}`, id);
    }
  }

  /**
   * Returns the number of users who lose a login name or address because an earlier user has it.
   * @throws OperatorError if users of this system have it who are not in the source
   */
  async count(records: () => AsyncIterable<ParseRecord>): Promise<number> {
    if (this.#suspects.size === 0 && this.#holders.size === 0) return 0;
    const met = new Set<string>();
    const foreign = new Set(this.#holders.values());
    let count = 0;
    for await (const { objectId, values } of records()) {
      foreign.delete(objectId);
      const shared = keysOf(values).filter((key) => this.#suspects.has(key));
      if (shared.some((key) => met.has(key))) count++;
      for (const key of shared) met.add(key);
    }
    const taken = [...this.#holders].filter(([, id]) => foreign.has(id)).map(([key]) => key);
    if (taken.length === 0) return count;
    const more = taken.length > MAX_NAMES ? ` and ${taken.length - MAX_NAMES} more` : '';
    throw new OperatorError(
      `nothing was written: users of this system have ${taken.slice(0, MAX_NAMES).join(', ')}${more}, too; rename or remove them`,
    );
  }

  #testAndSet(key: string): boolean {
    // FNV-1a
    let hash = 0x811c9dc5;
    for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    const bit = (hash >>> 0) % BITS;
    const byte = this.#filter[bit >> 3] ?? 0;
    this.#filter[bit >> 3] = byte | (1 << (bit & 7));
    return (byte & (1 << (bit & 7))) !== 0;
  }
}

function keysOf(values: ParseRecord['values']): string[] {
  const username = values.get('username');
  const email = values.get('email');
  const name = typeof username === 'string' ? loginKey(username) : '';
  const address = typeof email === 'string' ? emailKey(email) : null;
  return [...(name.trim() === '' ? [] : [`username ${name}`]), ...(address === null ? [] : [`email ${address}`])];
}
