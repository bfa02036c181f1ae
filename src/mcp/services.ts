import type { CrmServices } from '../crm/context.ts';
import type { Logger } from '../observe/index.ts';
import type { WriteHooks } from '../records/index.ts';
import type { Systems } from '../systems/index.ts';
import type { BearerCheck } from './caller.ts';

/** What the agent tools work with; `app.ts` puts it together. */
export interface McpServices extends CrmServices {
  readonly systems: Systems;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Whose headers count that speak for others (CONTRACT "Running": TRUST_PROXY). */
  readonly trustProxy: boolean | string[];
  /** Where the service listens (CONTRACT "Running": HOST), one of the names that it goes by. */
  readonly host: string;
  /** Judges access tokens. */
  readonly bearer: BearerCheck;
}
