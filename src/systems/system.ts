import { anonymous, invalid, master, type Principal } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { Store } from '../storage/port.ts';
import type { KeyEntry, SystemEntry } from '../storage/registry.ts';
import { hashKey, hashPrefix } from './secrets.ts';

/** The credentials of a request. Values that are no strings may come in a body; they are nobody's. */
export interface Credentials {
  readonly masterKey: unknown;
  readonly apiKey: unknown;
  readonly sessionToken: unknown;
}

/** A system's entry and keys, ready to be asked. */
export class Registration {
  readonly entry: SystemEntry;
  readonly #masterPrefix: string;
  readonly #apiPrefix: string;
  readonly #apiKeys = new Map<string, Principal>();

  constructor(entry: SystemEntry, keys: readonly KeyEntry[], salt: string) {
    this.entry = entry;
    this.#masterPrefix = hashPrefix(salt, entry.appId, 'master');
    this.#apiPrefix = hashPrefix(salt, entry.appId, 'apiKey');
    for (const { hash, name } of keys) this.#apiKeys.set(hash, { kind: 'apiKey', name });
  }

  /**
   * Who asks (SPEC "Credentials"). A key counts under its own name only; the strongest credential sent decides, right or wrong.
   * @throws invalidSession (209)
   */
  principalFor({ masterKey, apiKey, sessionToken }: Credentials): Principal {
    if (wasSent(masterKey)) return this.#isMaster(masterKey) ? master : invalid;
    if (wasSent(apiKey)) return (typeof apiKey === 'string' && this.#apiKeys.get(hashKey(this.#apiPrefix, apiKey))) || invalid;
    return wasSent(sessionToken) ? fail('invalidSession') : anonymous;
  }

  #isMaster(key: unknown): boolean {
    return typeof key === 'string' && hashKey(this.#masterPrefix, key) === this.entry.masterKeyHash;
  }
}

function wasSent(credential: unknown): boolean {
  return credential !== undefined && credential !== null && credential !== '';
}

/** An open system. Who works with it holds it, so that it is not closed meanwhile. */
export class System {
  readonly store: Store;
  /** Follows the registry. */
  registration: Registration;
  #holders = 0;
  #touched = true;
  #whenFree: (() => void) | undefined;

  constructor(registration: Registration, store: Store) {
    this.registration = registration;
    this.store = store;
  }

  get appId(): string {
    return this.registration.entry.appId;
  }

  get name(): string {
    return this.registration.entry.name;
  }

  hold(): void {
    this.#holders++;
    this.#touched = true;
  }

  release(): void {
    if (--this.#holders === 0 && this.#whenFree) this.#whenFree();
  }

  /** Whether nobody has held the system since this was last asked. */
  wasIdle(): boolean {
    const idle = this.#holders === 0 && !this.#touched;
    this.#touched = false;
    return idle;
  }

  /** Closes the store once nobody holds the system. */
  async close(): Promise<void> {
    if (this.#holders > 0) await new Promise<void>((resolve) => (this.#whenFree = resolve));
    await this.store.close();
  }
}
