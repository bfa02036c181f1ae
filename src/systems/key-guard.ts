import { LRUCache } from 'lru-cache';
import { TooManyRequests } from '../errors/too-many-requests.ts';
import { networkOf } from '../kernel/network.ts';

const MINUTE = 60_000;
/** Different wrong keys that a network may send in a minute, which begins with the first. */
const MOST_WRONG = 100;
/** Networks that are counted at once, some 5 KB each at most; beyond, those that have been quiet longest are forgotten. */
const NETWORKS = 5_000;
/** Right keys that are remembered, each for each network that it came from. */
const PROVED = 20_000;

/** The keys that a network has sent. */
export interface KeyTrial {
  /** @param hash of a key as the registry keeps it @throws TooManyRequests (155) where it is not to be looked at */
  admit(hash: string): void;
  /** What came of a key that was looked at. */
  judge(hash: string, isRight: boolean): void;
}

interface Tried {
  readonly end: number;
  /** 48 bits of their hashes each. */
  readonly wrong: Set<number>;
  isTold: boolean;
}

/**
 * Refuses keys of networks that try keys out (docs/decisions.md "Edge"): one wrong key sent again and again is a mistake in somebody's
 * settings, many different ones are no mistake. Keys that have proved right from there go on to work. It never grows beyond a bound.
 */
export class KeyGuard {
  readonly #begins: (network: string) => void;
  readonly #now: () => number;
  readonly #tried = new LRUCache<string, Tried>({ max: NETWORKS });
  readonly #proved = new LRUCache<string, true>({ max: PROVED });

  /** @param begins told when keys of a network begin to be refused @param now milliseconds that only grow */
  constructor(begins: (network: string) => void = () => {}, now = () => performance.now()) {
    this.#begins = begins;
    this.#now = now;
  }

  /** @param address of the client, as TRUST_PROXY says */
  trialOf(address: string): KeyTrial {
    const network = networkOf(address);
    return {
      admit: (hash) => this.#admit(network, hash),
      judge: (hash, isRight) => {
        if (isRight) this.#proved.set(network + hash, true);
        else this.#countWrong(network, hash);
      },
    };
  }

  #admit(network: string, hash: string): void {
    const tried = this.#triedOf(network);
    if (!tried || tried.wrong.size < MOST_WRONG || this.#proved.has(network + hash)) return;
    if (!tried.isTold) this.#begins(network);
    tried.isTold = true;
    throw new TooManyRequests(Math.ceil((tried.end - this.#now()) / 1_000));
  }

  #countWrong(network: string, hash: string): void {
    const tried = this.#triedOf(network) ?? { end: this.#now() + MINUTE, wrong: new Set(), isTold: false };
    if (tried.wrong.size < MOST_WRONG) tried.wrong.add(Buffer.from(hash.slice(0, 8), 'base64url').readUIntBE(0, 6));
    this.#tried.set(network, tried);
  }

  /** Of the minute under way; `undefined` where none is. */
  #triedOf(network: string): Tried | undefined {
    const tried = this.#tried.get(network);
    return tried && this.#now() < tried.end ? tried : undefined;
  }
}
