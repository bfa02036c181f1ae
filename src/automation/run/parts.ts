import type { WriteHooks } from '../../records/index.ts';
import type { ActionParts, ActionRun, AutomationSystem } from '../actions/action.ts';
import type { ActiveTriggers } from '../active.ts';
import type { fires } from '../conditions.ts';
import type { LaterKind } from '../queue/index.ts';
import type { LaterWork } from '../queue/later.ts';
import type { expand, runDue } from '../schedule/index.ts';
import type { Calls } from './calls.ts';
import type { Holds } from './holds.ts';

/** What jobs are done with. */
export interface RunParts extends ActionParts {
  /** Of what actions write. */
  readonly hooks: WriteHooks;
  readonly triggers: ActiveTriggers;
  readonly fires: typeof fires;
  /** Does an action; throws as a `Perform` does. */
  readonly perform: (run: ActionRun, parts: ActionParts) => Promise<void>;
  /** By the kind of the job. */
  readonly later: ReadonlyMap<LaterKind, LaterWork>;
  readonly expand: typeof expand;
  readonly runDue: typeof runDue;
  /** Of this process. */
  readonly holds: Holds;
}

/** Where a job is done. */
export interface Place {
  readonly system: AutomationSystem;
  readonly parts: RunParts;
  readonly calls: Calls;
  /** Whether the service ends: asked between two steps. */
  readonly isEnough: () => boolean;
  /** Whether the service has waited for long enough: the store is not to be touched any more, and what fails now is nothing for the log. */
  readonly isOver: () => boolean;
  /** Told of a commit that may have queued a job that nobody else tells of. */
  readonly queued: () => void;
}
