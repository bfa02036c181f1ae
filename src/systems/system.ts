import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { anonymous, invalid, master, type Principal } from '../access/index.ts';
import { TooManyRequests } from '../errors/too-many-requests.ts';
import { isShortKey } from '../kernel/credentials.ts';
import { networkOf } from '../kernel/network.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { Store } from '../storage/port.ts';
import type { KeyEntry, SystemEntry } from '../storage/registry.ts';

/** The credentials of a request. A body may hold values that are no strings; these are invalid. */
export interface Credentials {
  readonly masterKey: unknown;
  readonly apiKey: unknown;
  readonly sessionToken: unknown;
}

interface ApiKey {
  readonly hash: Uint8Array;
  readonly principal: Principal;
  readonly recordUse: () => void;
}

/** A right key that was sent. */
interface SentKey {
  readonly hash: string;
  readonly owner: ApiKey;
}

/** A system's registry entry and keys, prepared for comparison. */
export class Registration {
  readonly entry: SystemEntry;
  readonly #masterPrefix: string;
  readonly #masterKey: Uint8Array;
  readonly #apiPrefix: string;
  readonly #apiKeys: readonly ApiKey[];
  /** At most as many as there are keys. Hashing and comparing a key takes some 3 % of a read of one record. */
  readonly #sentKeys = new Map<string, SentKey>();

  /** @param recorderOf returns, by the name of an API key, a function called at each use of the key */
  constructor(
    entry: SystemEntry,
    keys: readonly KeyEntry[],
    installationSalt: string,
    recorderOf: (name: string) => () => void = () => () => {},
  ) {
    this.entry = entry;
    const salt = entry.keySalt ?? installationSalt;
    this.#masterPrefix = hashPrefix(salt, entry.appId, 'master');
    this.#masterKey = Buffer.from(entry.masterKeyHash);
    this.#apiPrefix = hashPrefix(salt, entry.appId, 'apiKey');
    this.#apiKeys = keys.map(({ hash, name }) => ({
      hash: Buffer.from(hash),
      principal: { kind: 'apiKey', name },
      recordUse: recorderOf(name),
    }));
  }

  /**
   * Returns the caller. A key is valid under its own header name only; the strongest credential sent decides, right or wrong.
   * Reference: authentication.md#credentials.
   * @param trial left out if the caller does not learn the result
   * @returns `null` if the session token decides
   * @throws TooManyRequests (155) if keys are being guessed
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
    const sent = this.#sentKeys.get(key);
    const hash = sent?.hash ?? hashKey(this.#apiPrefix, key);
    const look = () => sent?.owner ?? this.#withHash(Buffer.from(hash));
    const found = trial ? trial.judge(key, hash, look) : look();
    if (!found) return invalid;
    if (!sent) this.#sentKeys.set(key, { hash, owner: found });
    found.recordUse();
    return found.principal;
  }

  /** Whether an API key of this name is valid now. */
  hasApiKey(name: string): boolean {
    return this.#apiKeys.some(({ principal }) => principal.kind === 'apiKey' && principal.name === name);
  }

  /** Compares with all keys, so that the time does not reveal which one matches. */
  #withHash(given: Uint8Array): ApiKey | undefined {
    let found: ApiKey | undefined;
    for (const one of this.#apiKeys) if (sameHash(given, one.hash)) found = one;
    return found;
  }
}

/** Whether a credential was sent; an empty one counts as none. */
export function wasSent(credential: unknown): boolean {
  return credential !== undefined && credential !== null && credential !== '';
}

/** An open system. Its users hold it, so that it is not closed meanwhile. */
export class System {
  readonly appId: string;
  readonly store: Store;
  /** Updated when the registry changes. */
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
   * Returns the caller, as `Registration.principalFor`.
   * @param address of the client
   * @throws TooManyRequests (155) if keys are being guessed from there
   */
  principalFor(credentials: Credentials, address: string): Principal | null {
    return this.registration.principalFor(credentials, this.#keyGuard.trialOf(address));
  }

  get name(): string {
    return this.registration.entry.name;
  }

  /** Whether its schedules, triggers and mail wait for `system resume` (backup.md#held-systems). */
  get isHeld(): boolean {
    return this.registration.entry.heldAt !== null;
  }

  /** @param isUse whether the system counts as used, and stays open for a while after */
  hold(isUse = true): void {
    this.#holders++;
    if (isUse) this.#uses++;
    this.#touched ||= isUse;
  }

  release(): void {
    if (--this.#holders === 0 && this.#whenFree) this.#whenFree();
  }

  /** Whether it will close once it is released: long-running work must then release it. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** How often it was held for use. */
  get uses(): number {
    return this.#uses;
  }

  /** Whether it is not held now. */
  get isFree(): boolean {
    return this.#holders === 0;
  }

  /** Whether it was not held since the last call. */
  wasIdle(): boolean {
    const idle = this.#holders === 0 && !this.#touched;
    this.#touched = false;
    return idle;
  }

  /** Closes the store once it is not held any more. */
  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#holders > 0) await new Promise<void>((resolve) => (this.#whenFree = resolve));
    await this.store.close();
  }
}

/** Returns the salt of a key's hash, so that the hash is valid for one header of one system of one installation. */
export function hashPrefix(salt: string, appId: string, kind: 'master' | 'apiKey'): string {
  return `${salt}:${appId}:${kind}:`;
}

/** Returns the hash of a key that the registry stores. One round of a fast hash suffices, since keys are long and random. */
export function hashKey(prefix: string, key: string): string {
  return hash('sha256', prefix + key, 'base64url');
}

/** Compares two hashes in constant time. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Number of different wrong keys that a network may send in a minute, which starts with the first. */
export const MAX_WRONG_KEYS = 100;
/** Maximum number of networks tracked, some 5 KB each at most; beyond it the longest quiet ones are forgotten. */
const MAX_NETWORKS = 5_000;
/** Maximum number of short right keys remembered, by network. */
const MAX_PROVED_KEYS = 20_000;

/** Checks keys sent by one network. */
export interface KeyTrial {
  /**
   * Checks a key, unless the network has sent too many wrong ones.
   * @param hash of the key as the registry stores it
   * @param look returns the owner, `undefined` for a wrong key; in memory, since it is called for every wrong key
   * @throws TooManyRequests (155) if keys are being guessed, and this one is wrong or may have been found by guessing
   */
  judge<T>(key: string, hash: string, look: () => T | undefined): T | undefined;
}

interface Tried {
  readonly end: number;
  /** 48 bits of the hash of each. */
  readonly wrong: Set<number>;
  isReported: boolean;
}

/**
 * Refuses keys of networks that guess keys: one wrong key sent again and again is a mistake in a configuration, many different ones are an
 * attack. Right keys keep working, short ones only if they were used from that network before: the network may be a proxy that many share.
 * Memory is bounded. Reference: authentication.md#wrong-keys-in-numbers.
 */
export class KeyGuard {
  readonly #onRefusal: (network: string) => void;
  readonly #now: () => number;
  readonly #tried = new LRUCache<string, Tried>({ max: MAX_NETWORKS });
  readonly #proved = new LRUCache<string, true>({ max: MAX_PROVED_KEYS });

  /** @param onRefusal called when keys of a network start to be refused @param now monotonic milliseconds */
  constructor(onRefusal: (network: string) => void = () => {}, now = () => performance.now()) {
    this.#onRefusal = onRefusal;
    this.#now = now;
  }

  /** @param address of the client, as determined by TRUST_PROXY */
  trialOf(address: string): KeyTrial {
    return { judge: (key, hash, look) => this.#judge(address, isShortKey(key), hash, look) };
  }

  #judge<T>(address: string, isShort: boolean, hash: string, look: () => T | undefined): T | undefined {
    // Long right keys keep working, whatever else their network sends.
    const right = isShort ? undefined : look();
    return right ?? this.#judgeByNetwork(networkOf(address), isShort, hash, look);
  }

  #judgeByNetwork<T>(network: string, isShort: boolean, hash: string, look: () => T | undefined): T | undefined {
    const tried = this.#triedOf(network);
    const isFull = tried !== undefined && tried.wrong.size >= MAX_WRONG_KEYS;
    const isLookedAt = !isFull || !isShort || this.#proved.has(network + hash);
    const found = isLookedAt ? look() : undefined;
    if (found === undefined) {
      if (isFull) this.#refuse(network, tried);
      this.#countWrong(network, hash);
    } else if (isShort && !this.#proved.has(network + hash)) this.#proved.set(network + hash, true);
    return found;
  }

  #refuse(network: string, tried: Tried): never {
    if (!tried.isReported) this.#onRefusal(network);
    tried.isReported = true;
    throw new TooManyRequests(Math.ceil((tried.end - this.#now()) / 1_000));
  }

  #countWrong(network: string, hash: string): void {
    const tried = this.#triedOf(network) ?? { end: this.#now() + MINUTE_MS, wrong: new Set(), isReported: false };
    tried.wrong.add(Buffer.from(hash.slice(0, 8), 'base64url').readUIntBE(0, 6));
    this.#tried.set(network, tried);
  }

  /** Returns the count of the current minute; `undefined` if there is none. */
  #triedOf(network: string): Tried | undefined {
    const tried = this.#tried.get(network);
    return tried && this.#now() < tried.end ? tried : undefined;
  }
}
