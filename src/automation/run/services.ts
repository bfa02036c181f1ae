import type { WriteHooks } from '../../records/index.ts';
import type { ActiveTriggers } from '../definition/trigger-cache.ts';
import type { fires } from '../matching/conditions.ts';
import type { ActionParts, ActionRun, AutomationSystem } from '../model/action.ts';
import type { RetryableKind } from '../queue/index.ts';
import type { RetryableWork } from '../queue/retryable-jobs.ts';
import type { expand, runDue } from '../schedule/index.ts';
import type { Calls } from './calls.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** What jobs are done with. */
export interface JobServices extends ActionParts {
  /** Of what actions write. */
  readonly hooks: WriteHooks;
  readonly triggers: ActiveTriggers;
  readonly fires: typeof fires;
  /** Does an action; throws as a `Perform` does. */
  readonly perform: (run: ActionRun, parts: ActionParts) => Promise<void>;
  /** By the kind of the job. */
  readonly later: ReadonlyMap<RetryableKind, RetryableWork>;
  readonly expand: typeof expand;
  readonly runDue: typeof runDue;
  /** Of this process. */
  readonly breaker: CircuitBreaker;
}

/** Where a job is done. */
export interface JobContext {
  readonly system: AutomationSystem;
  readonly parts: JobServices;
  readonly calls: Calls;
  /** Whether the service ends: asked between two steps. */
  readonly isEnough: () => boolean;
  /** Whether the service has waited for long enough: the store is not to be touched any more, and what fails now is nothing for the log. */
  readonly isOver: () => boolean;
  /** Told of a commit that may have queued a job that nobody else tells of. */
  readonly queued: () => void;
}
