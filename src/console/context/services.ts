import type { Addresses } from '../../config/index.ts';
import type { CrmServices } from '../../crm/context.ts';
import type { Logger } from '../../observe/index.ts';
import type { WriteHooks } from '../../records/index.ts';
import type { Systems } from '../../systems/index.ts';

/** Counts requests of an address. */
export interface AddressCounter {
  /** @throws TooManyRequests (155) */
  count(address: string): void;
}

/** What the console works with; `app.ts` puts it together. */
export interface ConsoleServices extends Omit<CrmServices, 'addresses'> {
  readonly systems: Systems;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Whose headers count that speak for others (CONTRACT "Running": TRUST_PROXY). */
  readonly trustProxy: boolean | string[];
  readonly addresses: Addresses;
  /** Of this installation: tokens that open private files are signed with it. */
  readonly secret: string;
  /** Where the first start has left what it made. */
  readonly dataDir: string;
  /** Requests a minute from one address; 0: as many as is usual here. */
  readonly rateLimits: { readonly login: number };
  /** Makes a limit of requests a minute from one address. */
  readonly limitOf: (most: number) => AddressCounter | null;
}
