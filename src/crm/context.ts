import type { Automation } from '../automation/index.ts';
import type { Addresses } from '../config/index.ts';
import type { Files } from '../files/index.ts';
import type { Conditions } from '../observe/index.ts';
import type { RecordContext } from '../records/index.ts';
import type { System } from '../systems/index.ts';
import type { Users } from '../users/index.ts';

/** What the functions of the CRM work with beside the records. */
export interface CrmServices {
  readonly users: Users;
  readonly files: Files;
  readonly automation: Automation;
  readonly conditions: Pick<Conditions, 'met' | 'over'>;
  /** The service's address as clients see it, without a slash at the end. */
  readonly addresses: Pick<Addresses, 'base'>;
}

/** What every function of the CRM needs: the records as the caller has them, the system that they are of, the services. */
export interface CrmContext extends RecordContext {
  readonly system: System;
  readonly services: CrmServices;
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal;
}
