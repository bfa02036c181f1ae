import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { type Job, stateOf } from '../queue/index.ts';

/** A start of an action that was noted before the action was done. */
export interface Started {
  /** Of the action's row in the log. */
  readonly runId: string;
  /** How often it was begun. */
  readonly attempts: number;
  /** How often it ended with its process. */
  readonly ends: number;
}

/** How far a job of a write is: what `state` of its row says. */
export interface Progress {
  /** The place of the trigger among those of the job. */
  readonly trigger: number;
  /** Whether the log says already that it fired. */
  readonly isFired: boolean;
  /** The place of the action that is next among the trigger's. */
  readonly action: number;
  /** Of this action. */
  readonly started: Started | null;
}

/** Before a trigger. */
export function beforeTrigger(trigger: number): Progress {
  return { trigger, isFired: false, action: 0, started: null };
}

/** How far a job was when its row was written. */
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

/** The same as `state`. */
export function progressState({ trigger, isFired, action, started }: Progress): JsonObject {
  return { trigger, isFired, action, started: started && { ...started } };
}
