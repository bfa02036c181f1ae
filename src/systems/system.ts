import { hash, timingSafeEqual } from 'node:crypto';
import { anonymous, invalid, master, type Principal } from '../access/index.ts';
import type { Store } from '../storage/port.ts';
import type { KeyEntry, SystemEntry } from '../storage/registry.ts';
import { KeyGuard, type KeyTrial } from './key-guard.ts';

/** The credentials of a request. Values that are no strings may come in a body; they are nobody's. */
export interface Credentials {
  readonly masterKey: unknown;
  readonly apiKey: unknown;
  readonly sessionToken: unknown;
}

interface ApiKey {
  readonly hash: Uint8Array;
  readonly principal: Principal;
  readonly noteUse: () => void;
}

/** A system's entry and keys, ready to be asked. */
export class Registration {
  readonly entry: SystemEntry;
  readonly #masterPrefix: string;
  readonly #masterKey: Uint8Array;
  readonly #apiPrefix: string;
  readonly #apiKeys: readonly ApiKey[];

  /** @param noterOf a name of an API key: what is called each time that it is used */
  constructor(
    entry: SystemEntry,
    keys: readonly KeyEntry[],
    salt: string,
    noterOf: (name: string) => () => void = () => () => {},
  ) {
    this.entry = entry;
    this.#masterPrefix = hashPrefix(salt, entry.appId, 'master');
    this.#masterKey = Buffer.from(entry.masterKeyHash);
    this.#apiPrefix = hashPrefix(salt, entry.appId, 'apiKey');
    this.#apiKeys = keys.map(({ hash, name }) => ({
      hash: Buffer.from(hash),
      principal: { kind: 'apiKey', name },
      noteUse: noterOf(name),
    }));
  }

  /**
   * Who asks (SPEC "Credentials"). A key counts under its own name only; the strongest credential sent decides, right or wrong.
   * @param trial left out where nobody hears what comes of it
   * @returns `null` where that is the session token
   * @throws TooManyRequests (155) where keys are tried out
   */
  principalFor({ masterKey, apiKey, sessionToken }: Credentials, trial?: KeyTrial): Principal | null {
    if (wasSent(masterKey)) return this.#isMaster(masterKey, trial) ? master : invalid;
    if (wasSent(apiKey)) return this.#ofApiKey(apiKey, trial);
    return wasSent(sessionToken) ? null : anonymous;
  }

  #isMaster(key: unknown, trial?: KeyTrial): boolean {
    if (typeof key !== 'string') return false;
    const hash = hashKey(this.#masterPrefix, key);
    const look = () => sameHash(Buffer.from(hash), this.#masterKey) || undefined;
    return (trial ? trial.judge(key, hash, look) : look()) === true;
  }

  #ofApiKey(key: unknown, trial?: KeyTrial): Principal {
    if (typeof key !== 'string') return invalid;
    const hash = hashKey(this.#apiPrefix, key);
    const look = () => this.#withHash(Buffer.from(hash));
    const found = trial ? trial.judge(key, hash, look) : look();
    if (!found) return invalid;
    found.noteUse();
    return found.principal;
  }

  /** Goes through all keys, so that the time does not tell which of them it is. */
  #withHash(given: Uint8Array): ApiKey | undefined {
    let found: ApiKey | undefined;
    for (const one of this.#apiKeys) if (sameHash(given, one.hash)) found = one;
    return found;
  }
}

/** An empty credential counts as none. */
export function wasSent(credential: unknown): boolean {
  return credential !== undefined && credential !== null && credential !== '';
}

/** An open system. Who works with it holds it, so that it is not closed meanwhile. */
export class System {
  readonly appId: string;
  readonly store: Store;
  /** Follows the registry. */
  registration: Registration;
  readonly #keyGuard: KeyGuard;
  #holders = 0;
  #uses = 0;
  #touched = true;
  #isClosing = false;
  #whenFree: (() => void) | undefined;

  constructor(registration: Registration, store: Store, keyGuard = new KeyGuard()) {
    this.appId = registration.entry.appId;
    this.registration = registration;
    this.store = store;
    this.#keyGuard = keyGuard;
  }

  /**
   * Who asks, as `Registration.principalFor` has it.
   * @param address where the request came from
   * @throws TooManyRequests (155) where keys are tried out from there
   */
  principalFor(credentials: Credentials, address: string): Principal | null {
    return this.registration.principalFor(credentials, this.#keyGuard.trialOf(address));
  }

  get name(): string {
    return this.registration.entry.name;
  }

  /** @param isUse whether the system is to count as used, and stay open for a while after */
  hold(isUse = true): void {
    this.#holders++;
    if (isUse) this.#uses++;
    this.#touched ||= isUse;
  }

  release(): void {
    if (--this.#holders === 0 && this.#whenFree) this.#whenFree();
  }

  /** Whether it is to be closed as soon as nobody holds it: who works on without end has to leave it then. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** How often it was held for use. */
  get uses(): number {
    return this.#uses;
  }

  /** Whether nobody holds the system now. */
  get isFree(): boolean {
    return this.#holders === 0;
  }

  /** Whether nobody has held the system since this was last asked. */
  wasIdle(): boolean {
    const idle = this.#holders === 0 && !this.#touched;
    this.#touched = false;
    return idle;
  }

  /** Closes the store once nobody holds the system. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#holders > 0) await new Promise<void>((resolve) => (this.#whenFree = resolve));
    await this.store.close();
  }
}

/** Text to put before a key so that its hash holds for one header of one system of one installation. */
export function hashPrefix(salt: string, appId: string, kind: 'master' | 'apiKey'): string {
  return `${salt}:${appId}:${kind}:`;
}

/** What the registry keeps of a key. One round of a fast hash is enough, since keys are long random texts. */
export function hashKey(prefix: string, key: string): string {
  return hash('sha256', prefix + key, 'base64url');
}

/** Whether two hashes are one, in a time that tells nothing of where they differ. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
