import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { anonymous, invalid, master, type Principal } from '../access/index.ts';
import { TooManyRequests } from '../errors/too-many-requests.ts';
import { isShortKey } from '../kernel/credentials.ts';
import { networkOf } from '../kernel/network.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { Store } from '../storage/port.ts';
import type { KeyEntry, SystemEntry } from '../storage/registry.ts';

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
    installationSalt: string,
    noterOf: (name: string) => () => void = () => () => {},
  ) {
    this.entry = entry;
    const salt = entry.keySalt ?? installationSalt;
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

  /** Whether an API key of this name is good now. */
  hasApiKey(name: string): boolean {
    return this.#apiKeys.some(({ principal }) => principal.kind === 'apiKey' && principal.name === name);
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

  /** Whether its schedules, triggers and mail wait (`system resume`). */
  get isHeld(): boolean {
    return this.registration.entry.heldAt !== null;
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

/** Different wrong keys that a network may send in a minute, which begins with the first. */
const MAX_WRONG_KEYS = 100;
/** Networks that are counted at once, some 5 KB each at most; beyond, those that have been quiet longest are forgotten. */
const MAX_NETWORKS = 5_000;
/** Right keys that are remembered, each for each network that it came from: short ones. */
const MAX_PROVED_KEYS = 20_000;

/** The keys that a network has sent. */
export interface KeyTrial {
  /**
   * Has a key looked at, where it may be.
   * @param hash of the key as the registry keeps it
   * @param look whose it is, `undefined` of a wrong one; in memory, since it is asked however many wrong ones come
   * @throws TooManyRequests (155) where keys are tried out, and this one is wrong or may have been found so
   */
  judge<T>(key: string, hash: string, look: () => T | undefined): T | undefined;
}

interface Tried {
  readonly end: number;
  /** 48 bits of their hashes each. */
  readonly wrong: Set<number>;
  isTold: boolean;
}

/**
 * Refuses keys of networks that try keys out (docs/decisions.md "Edge"): one wrong key sent again and again is a mistake in somebody's
 * settings, many different ones are no mistake. Right keys go on to work, short ones where they have proved right from there: a network may be
 * a proxy that many share. It never grows beyond a bound.
 */
export class KeyGuard {
  readonly #begins: (network: string) => void;
  readonly #now: () => number;
  readonly #tried = new LRUCache<string, Tried>({ max: MAX_NETWORKS });
  readonly #proved = new LRUCache<string, true>({ max: MAX_PROVED_KEYS });

  /** @param begins told when keys of a network begin to be refused @param now milliseconds that only grow */
  constructor(begins: (network: string) => void = () => {}, now = () => performance.now()) {
    this.#begins = begins;
    this.#now = now;
  }

  /** @param address of the client, as TRUST_PROXY says */
  trialOf(address: string): KeyTrial {
    return { judge: (key, hash, look) => this.#judge(address, isShortKey(key), hash, look) };
  }

  #judge<T>(address: string, isShort: boolean, hash: string, look: () => T | undefined): T | undefined {
    // Long right keys go on to work, whatever else their network sends.
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
    if (!tried.isTold) this.#begins(network);
    tried.isTold = true;
    throw new TooManyRequests(Math.ceil((tried.end - this.#now()) / 1_000));
  }

  #countWrong(network: string, hash: string): void {
    const tried = this.#triedOf(network) ?? { end: this.#now() + MINUTE_MS, wrong: new Set(), isTold: false };
    tried.wrong.add(Buffer.from(hash.slice(0, 8), 'base64url').readUIntBE(0, 6));
    this.#tried.set(network, tried);
  }

  /** Of the minute under way; `undefined` where none is. */
  #triedOf(network: string): Tried | undefined {
    const tried = this.#tried.get(network);
    return tried && this.#now() < tried.end ? tried : undefined;
  }
}
