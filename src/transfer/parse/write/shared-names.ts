import { emailKey, loginKey } from '../../../kernel/login-key.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Store } from '../../../storage/port.ts';
import type { ParseRecord } from '../source/source.ts';
import { holdersOf } from './known-ids.ts';
import type { MappedRecord } from './record-mapper.ts';

/** Bits that remember which names were met: 8 MiB, whatever the number of users. */
const BITS = 2 ** 26;
/** Names that one line tells. */
const MAX_NAMES = 10;
/** The fields of keys, and what they are the keys of. */
const keyFields = [
  ['_username_key', 'username'],
  ['_email_key', 'email'],
] as const;

/** Finds users whose names or addresses others have: those of this system, and those before them in the source. */
export class SharedNames {
  readonly #met = new Uint8Array(BITS / 8);
  /** Keys that look as if they were met before: others may share their bit. */
  readonly #suspects = new Set<string>();
  /** Users of this system by the key that a user of the source has. */
  readonly #holders = new Map<string, string>();

  async add(store: Store, batch: readonly MappedRecord[]): Promise<void> {
    for (const [field, kind] of keyFields) {
      const owners = new Map<string, string>();
      for (const { objectId, values } of batch) {
        const key = values.get(field);
        if (typeof key !== 'string') continue;
        owners.set(key, objectId);
        if (this.#meets(`${kind} ${key}`)) this.#suspects.add(`${kind} ${key}`);
      }
      for (const [key, id] of await holdersOf(store, '_User', field, [...owners.keys()]))
        if (owners.get(key) !== id) this.#holders.set(`${kind} ${key}`, id);
    }
  }

  /**
   * How many users have to do without a name or an address, since one before them has it.
   * @throws OperatorError where users of this system have it who are not of the source
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

  #meets(key: string): boolean {
    // FNV-1a
    let hash = 0x811c9dc5;
    for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
    const bit = (hash >>> 0) % BITS;
    const byte = this.#met[bit >> 3] ?? 0;
    this.#met[bit >> 3] = byte | (1 << (bit & 7));
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
