import type Provider from 'oidc-provider';
import type { Addresses } from '../config/index.ts';
import type { System } from '../systems/index.ts';
import { markOf } from '../users/index.ts';
import { addressesOf, type IssuerAddresses } from './addresses.ts';
import type { Fetch } from './clients/ssrf-safe-fetch.ts';
import { openKeys } from './keys.ts';
import type { ProviderParts } from './provider.ts';
import { ItemEncryption } from './storage/encryption.ts';
import { OpenItems } from './storage/item-limits.ts';
import { Items } from './storage/items.ts';
import { TokenReader } from './tokens.ts';

/** The authorization server of one open system. */
export interface Issuer {
  readonly addresses: IssuerAddresses;
  readonly items: Items;
  readonly tokens: TokenReader;
  /** Created on first use: checking a token needs only `tokens`. */
  serve(): Promise<Served>;
}

/** The provider of an issuer, and the handler of its requests. */
export interface Served {
  readonly provider: Provider;
  readonly handle: ReturnType<Provider['callback']>;
}

/** Dependencies of issuers. */
export interface IssuerParts {
  /** The service's public URL, without a trailing slash. */
  readonly addresses: Pick<Addresses, 'base'>;
  readonly secret: string;
  readonly fetch: Fetch;
  readonly mayFetch: ProviderParts['mayFetch'];
  readonly network: ProviderParts['network'];
  readonly progress: ProviderParts['progress'];
  readonly report: (error: unknown) => void;
}

/** The issuers of this process, cached as long as their systems are open. */
export class Issuers {
  readonly #parts: IssuerParts;
  readonly #made = new WeakMap<System, { readonly base: string; readonly issuer: Promise<Issuer> }>();

  constructor(parts: IssuerParts) {
    this.#parts = parts;
  }

  /** Returns the issuer of a system. @param system held by the caller */
  of(system: System): Promise<Issuer> {
    const base = this.#parts.addresses.base;
    const known = this.#made.get(system);
    if (known?.base === base) return known.issuer;
    const made = { base, issuer: this.#make(system, base) };
    this.#made.set(system, made);
    // Forget a failure, so that the next call retries.
    made.issuer.catch(() => {
      if (this.#made.get(system) === made) this.#made.delete(system);
    });
    return made.issuer;
  }

  async #make(system: System, base: string): Promise<Issuer> {
    const { secret, ...shared } = this.#parts;
    const addresses = addressesOf(base, system.appId);
    const items = new Items(system.store, new ItemEncryption(secret, system.appId), shared.progress);
    const keys = await openKeys(items);
    const tokens = new TokenReader(keys, addresses);
    const openItems = new OpenItems(system.store);
    const parts = {
      ...shared,
      addresses,
      items,
      openItems,
      keys,
      tokens,
      markOf: (userId: string) => markOf(system.store, userId),
    };
    let served: Promise<Served> | undefined;
    const serve = () =>
      serveWith(parts).catch((error: unknown) => {
        served = undefined;
        throw error;
      });
    return {
      addresses,
      items,
      tokens,
      // Loaded on first use: most systems have no sign-in.
      serve: () => (served ??= serve()),
    };
  }
}

async function serveWith(parts: ProviderParts): Promise<Served> {
  const { makeProvider } = await import('./provider.ts');
  const provider = makeProvider(parts);
  return { provider, handle: provider.callback() };
}
