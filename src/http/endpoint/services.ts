import type { Principal } from '../../access/index.ts';
import type { Addresses } from '../../config/index.ts';
import type { Files } from '../../files/index.ts';
import type { Functions } from '../../functions/index.ts';
import type { Conditions, Logger } from '../../observe/index.ts';
import type { WriteHooks } from '../../records/index.ts';
import type { System, Systems } from '../../systems/index.ts';
import type { ImportJobs } from '../../transfer/index.ts';
import type { PasswordResets, Users } from '../../users/index.ts';

/** The services that HTTP requests are answered by. */
export interface HttpServices {
  readonly systems: Systems;
  readonly users: Users;
  readonly resets: PasswordResets;
  readonly files: Files;
  readonly functions: Pick<Functions, 'call'>;
  readonly imports: ImportJobs;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Told of faults that requests meet. */
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
  /** Whose headers count that speak for others (CONTRACT "Running": TRUST_PROXY). */
  readonly trustProxy: boolean | string[];
  /** The service's address as clients see it, without a slash at the end. */
  readonly addresses: Pick<Addresses, 'base'>;
  /** The user whom a cookie of the console lets read private files (CONTRACT "Console"); `null` where none does. */
  readonly fileViewer: (system: System, cookieHeader: string | undefined) => Promise<Principal | null>;
  /** Rejects where the store does not work. */
  readonly probe: () => Promise<void>;
}
