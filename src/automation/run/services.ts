import type { WriteHooks } from '../../records/index.ts';
import type { ActiveTriggers } from '../definition/trigger-cache.ts';
import type { fires } from '../matching/conditions.ts';
import type { ActionRun, ActionServices, AutomationSystem } from '../model/action.ts';
import type { RetryableKind } from '../queue/index.ts';
import type { RetryableWork } from '../queue/retryable-jobs.ts';
import type { expand, runDue } from '../schedule/index.ts';
import type { Calls } from './calls.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** The services that jobs use. */
export interface JobServices extends ActionServices {
  /** Write hooks for records that actions write. */
  readonly hooks: WriteHooks;
  readonly triggers: ActiveTriggers;
  readonly fires: typeof fires;
  /** Executes an action; throws as `Perform`. */
  readonly perform: (run: ActionRun, services: ActionServices) => Promise<void>;
  /** By kind of job. */
  readonly retryable: ReadonlyMap<RetryableKind, RetryableWork>;
  readonly expand: typeof expand;
  readonly runDue: typeof runDue;
  /** Shared by all systems of this process. */
  readonly breaker: CircuitBreaker;
}

/** The environment of a job. */
export interface JobContext {
  readonly system: AutomationSystem;
  readonly services: JobServices;
  readonly calls: Calls;
  /** Whether the service is shutting down. Called between two steps. */
  readonly shouldStop: () => boolean;
  /** Whether the grace period is over: the store must no longer be used, and failures are not logged. */
  readonly isAborted: () => boolean;
  /** Notifies of a commit that may have queued a job without another notification. */
  readonly queued: () => void;
}
