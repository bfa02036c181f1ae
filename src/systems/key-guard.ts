import { LRUCache } from 'lru-cache';
import { TooManyRequests } from '../errors/too-many-requests.ts';
import { isShortKey } from '../kernel/credentials.ts';
import { networkOf } from '../kernel/network.ts';
import { MINUTE_MS } from '../kernel/time.ts';

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
    const network = networkOf(address);
    return { judge: (key, hash, look) => this.#judge(network, isShortKey(key), hash, look) };
  }

  #judge<T>(network: string, isShort: boolean, hash: string, look: () => T | undefined): T | undefined {
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
