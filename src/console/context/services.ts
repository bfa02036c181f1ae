import type { Addresses } from '../../config/index.ts';
import type { CrmServices } from '../../crm/context.ts';
import type { Logger, Observations } from '../../observe/index.ts';
import type { WriteHooks } from '../../records/index.ts';
import type { Systems } from '../../systems/index.ts';

/** Rate limiter by client address. */
export interface AddressCounter {
  /** @throws TooManyRequests (155) */
  count(address: string): void;
}

/** Dependencies of the console; composed in `app.ts`. */
export interface ConsoleServices extends Omit<CrmServices, 'addresses'> {
  readonly systems: Systems;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  readonly observations: Observations;
  /** The proxies whose forwarding headers are trusted. Reference: settings.md#trust_proxy. */
  readonly trustProxy: boolean | string[];
  readonly addresses: Addresses;
  /** Secret of this installation, which signs tokens for private files. */
  readonly secret: string;
  /** Directory in which the first start stored its credentials. */
  readonly dataDir: string;
  /** Requests per minute from one address; 0: the console's default. */
  readonly rateLimits: { readonly login: number };
  /** Creates a rate limiter. @param max requests per minute from one address */
  readonly limitOf: (max: number) => AddressCounter | null;
}
