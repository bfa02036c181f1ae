import type { Automation } from '../automation/index.ts';
import type { Addresses } from '../config/index.ts';
import type { Files } from '../files/index.ts';
import type { Conditions } from '../observe/index.ts';
import type { RecordContext } from '../records/index.ts';
import type { System } from '../systems/index.ts';
import type { Users } from '../users/index.ts';

/** Services that the CRM functions use besides records. */
export interface CrmServices {
  readonly users: Users;
  readonly files: Files;
  readonly automation: Automation;
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
  /** The service's address as clients see it, without a trailing slash. */
  readonly addresses: Pick<Addresses, 'base'>;
}

/** Context of every CRM function: record access as the caller, the system, the services. */
export interface CrmContext extends RecordContext {
  readonly system: System;
  readonly services: CrmServices;
  /** Aborted when the caller no longer waits for the result. */
  readonly signal: AbortSignal;
}
