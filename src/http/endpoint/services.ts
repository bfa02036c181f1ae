import type { Principal } from '../../access/index.ts';
import type { Addresses } from '../../config/index.ts';
import type { Files } from '../../files/index.ts';
import type { Functions } from '../../functions/index.ts';
import type { Conditions, Logger, Observations } from '../../observe/index.ts';
import type { WriteHooks } from '../../records/index.ts';
import type { Unreachable } from '../../storage/engine.ts';
import type { System, Systems } from '../../systems/index.ts';
import type { ImportJobs } from '../../transfer/index.ts';
import type { PasswordResets, Users } from '../../users/index.ts';

/** The services behind the HTTP endpoints. */
export interface HttpServices {
  readonly systems: Systems;
  readonly users: Users;
  readonly resets: PasswordResets;
  readonly files: Files;
  readonly functions: Pick<Functions, 'call' | 'customOf'>;
  readonly imports: ImportJobs;
  readonly hooks: WriteHooks;
  readonly log: Logger;
  /** Reports faults that requests meet. */
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
  /** Receives what is observed of requests. */
  readonly observations: Observations;
  /** The proxies whose forwarding headers are trusted. Reference: settings.md#trust_proxy. */
  readonly trustProxy: boolean | string[];
  /** The service's public URL, without a trailing slash. */
  readonly addresses: Pick<Addresses, 'base'>;
  /** Returns the user whom a console cookie lets read private files (files.md#private-files); `null` if there is none. */
  readonly fileViewer: (system: System, cookieHeader: string | undefined) => Promise<Principal | null>;
  /** Rejects if the store does not work. */
  readonly probe: () => Promise<Unreachable>;
}
