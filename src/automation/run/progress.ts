import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { type Job, stateOf } from '../queue/index.ts';

/** A start of an action that was recorded before the action was executed. */
export interface Started {
  /** objectId of the action's row in the log. */
  readonly runId: string;
  /** Number of starts. */
  readonly attempts: number;
  /** Number of starts that were interrupted by the end of their process. */
  readonly ends: number;
}

/** Progress of a job for a write, stored as `state` in its row. */
export interface Progress {
  /** Index of the current trigger in the job's list. */
  readonly trigger: number;
  /** Whether the log contains already that the trigger fired. */
  readonly isFired: boolean;
  /** Index of the next action of the trigger. */
  readonly action: number;
  /** The recorded start of this action. */
  readonly started: Started | null;
}

/** Returns the progress before a trigger. */
export function beforeTrigger(trigger: number): Progress {
  return { trigger, isFired: false, action: 0, started: null };
}

/** Returns the progress in the row of a job. */
export function progressOf(job: Job): Progress {
  const { trigger, isFired, action, started } = stateOf(job);
  return {
    trigger: placeOf(trigger),
    isFired: isFired === true,
    action: placeOf(action),
    started:
      isJsonObject(started) && typeof started.runId === 'string'
        ? { runId: started.runId, attempts: placeOf(started.attempts), ends: placeOf(started.ends) }
        : null,
  };
}

const placeOf = (value: JsonValue | undefined): number => (typeof value === 'number' && value > 0 ? Math.floor(value) : 0);

/** Returns the progress as `state`. */
export function progressState({ trigger, isFired, action, started }: Progress): JsonObject {
  return { trigger, isFired, action, started: started && { ...started } };
}
