import type { CrmServices } from '../crm/context.ts';
import type { Logger, Observations } from '../observe/index.ts';
import type { WriteHooks } from '../records/index.ts';
import type { Systems } from '../systems/index.ts';
import type { BearerCheck } from './caller.ts';

/** Dependencies of the agent tools; composed in `app.ts`. */
export interface McpServices extends CrmServices {
  readonly systems: Systems;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  readonly observations: Observations;
  /** The proxies whose forwarding headers are trusted. Reference: settings.md#trust_proxy. */
  readonly trustProxy: boolean | string[];
  /** The address that the service listens on, accepted as a host name. Reference: settings.md#host. */
  readonly host: string;
  /** Checks access tokens. */
  readonly bearer: BearerCheck;
}
