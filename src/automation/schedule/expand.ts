import { isRefusal, isTimeout, ServiceError } from '../../errors/fail.ts';
import { newRowId } from '../../kernel/ids.ts';
import { readRow } from '../../records/index.ts';
import { type Schema, tableOf } from '../../schema/model.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import { actingFor } from '../matching/authority.ts';
import { ActionFailed, type AutomationSystem } from '../model/action.ts';
import type { Trigger } from '../model/model.ts';
import { logRow } from '../model/trigger-log.ts';
import { type Job, queueTable, removeJob, stateOf, updateJob } from '../queue/index.ts';
import { is } from '../queue/steps.ts';
import { readDefinition, type Scheduled, triggerTable } from './definitions.ts';
import { nextRecords, writeRows } from './records.ts';

/** Maximum records per run. Reference: triggers.md#schedules. */
export const MAX_RECORDS = 1_000;
/** Records per read and commit; few enough for a quick read. */
const PAGE_SIZE = 200;

/** Progress of a run: `state` of its row. */
interface Progress {
  /** objectId of the last queued record; empty: none; omitted: the run has not begun. */
  readonly after?: string;
  /** Number of queued records. */
  readonly done?: number;
}

/** The progress, and the text of `state` that stores it. */
interface SavedProgress extends Progress {
  readonly expectedState: string | null;
}

/** Log texts: why a run ended early, or that more records follow. */
const reasons = {
  gone: 'The trigger was deleted before it could run.',
  off: 'The trigger was switched off before it could run.',
  changed: 'The trigger was changed before it could run.',
  bounded: 'Only the first 1,000 records were run; the rest follow at the next run.',
} as const;

/**
 * Processes a run: queues a job for each record that matches the criteria, in order of objectId, at most 1,000. Each page is one commit with the
 * progress, so that a crash neither loses nor repeats a record. When it resolves, the row of the run is gone or owned by another process.
 * Reference: triggers.md#schedules.
 * @param endsOnTimeout whether a timeout of a read ends the run, after earlier timeouts
 * @throws unavailable, outcomeUnknown, timeout; the next call continues the run
 */
export async function expand(system: AutomationSystem, job: Job, endsOnTimeout = false): Promise<void> {
  const { store } = system;
  try {
    // Waits for the schema: another process may just have created a table.
    await store.whenCurrent();
    const progress = await readProgress(store, job);
    if (progress) await runSchedule(system, job, progress, endsOnTimeout);
  } catch (error) {
    if (!hasLostRun(error)) throw error;
  }
}

const ownFields = ['state', 'owner'];

/**
 * Reads the current progress, because a commit whose answer was lost may have taken effect.
 * @returns `null` if the run has ended or another process owns it
 */
async function readProgress(store: Store, { id, owner }: Job): Promise<SavedProgress | null> {
  const row = await readRow<{ state?: string; owner?: string }>(store, queueTable, ownFields, id);
  if (row?.owner !== owner) return null;
  const expectedState = row.state ?? null;
  return { ...progressIn(expectedState), expectedState };
}

/** An unreadable state counts as not begun. */
function progressIn(state: string | null): Progress {
  const { after, done } = stateOf({ state });
  return {
    ...(typeof after === 'string' && { after }),
    ...(typeof done === 'number' && { done: Math.max(0, Math.min(MAX_RECORDS, done)) }),
  };
}

async function runSchedule(system: AutomationSystem, row: Job, before: SavedProgress, endsOnTimeout: boolean): Promise<void> {
  const { store } = system;
  let job = { ...row, expectedState: before.expectedState };
  const scheduled = await readDefinition(store, triggerOf(job));
  const refusal = refusalOf(scheduled, job);
  if (!scheduled || refusal !== null) return end(store, job, { error: refusal });
  const { trigger, cursor } = scheduled;
  let { after = cursor ?? '', done = 0 } = before;
  for (;;) {
    const wanted = Math.min(PAGE_SIZE, MAX_RECORDS - done);
    const ids = await orReason(nextRecordsFor(system, trigger, after, wanted), endsOnTimeout);
    if (typeof ids === 'string') return end(store, job, { error: ids, cursor: { was: cursor, is: after || null } });
    after = ids.at(-1) ?? after;
    done += ids.length;
    const page = writeRows(trigger, ids, job.owner);
    if (ids.length < wanted) return end(store, job, { page, cursor: { was: cursor, is: null } });
    if (done >= MAX_RECORDS) return endBounded(system, job, scheduled, { after, page, endsOnTimeout });
    const state = { after, done };
    const saved = job;
    await store.write({ plan: (schema) => ({ changes: [], mutations: [updateJob(schema, saved, { state }), ...page(schema)] }) });
    job = { ...job, expectedState: JSON.stringify(state) };
  }
}

/** Ends a run that has reached the maximum number of records. */
async function endBounded(
  system: AutomationSystem,
  job: SavedJob,
  { trigger, cursor }: Scheduled,
  { after, page, endsOnTimeout }: { after: string; page: Steps; endsOnTimeout: boolean },
): Promise<void> {
  const rest = await orReason(nextRecordsFor(system, trigger, after, 1), endsOnTimeout);
  const isMore = typeof rest === 'string' || rest.length > 0;
  return end(system.store, job, {
    page,
    cursor: { was: cursor, is: isMore ? after : null },
    error: isMore ? reasons.bounded : null,
  });
}

/** Returns the next records, with the current rights of the trigger. @throws ActionFailed; errors of `nextRecords` */
async function nextRecordsFor(system: AutomationSystem, trigger: Trigger, after: string, atMost: number): Promise<string[]> {
  return nextRecords(system.store, trigger, await actingFor(system, trigger), after, atMost);
}

function refusalOf(scheduled: Scheduled | null, { className }: Job): string | null {
  if (!scheduled) return reasons.gone;
  if (scheduled.schedule === null) return reasons.off;
  return scheduled.trigger.table === className ? null : reasons.changed;
}

/** Returns the result of a read, or the reason if it can never succeed. @throws transient errors and faults */
async function orReason<T>(read: Promise<readonly T[]>, endsOnTimeout: boolean): Promise<readonly T[] | string> {
  try {
    return await read;
  } catch (error) {
    const isFinal = error instanceof ActionFailed || isRefusal(error) || (endsOnTimeout && isTimeout(error));
    if (isFinal) return (error as Error).message;
    throw error;
  }
}

type Steps = (schema: Schema) => readonly Mutation[];
/** A job with the `state` of its row. */
type SavedJob = Job & { readonly expectedState: string | null };

/** How a run ends. */
interface Ending {
  /** Mutations that queue its last records. */
  readonly page?: Steps;
  /** Log text; `null` for none. */
  readonly error?: string | null;
  /** The cursor at the beginning of this run, and the one for the next run. */
  readonly cursor?: { readonly was: string | null; readonly is: string | null };
}

async function end(store: Store, job: SavedJob, { page, error = null, cursor }: Ending): Promise<void> {
  const at = Date.now();
  const row = {
    id: newRowId(at),
    at,
    triggerId: triggerOf(job),
    actionId: null,
    event: 'schedule',
    objectId: '',
    data: null,
  } as const;
  const steps: Steps = (schema) => [
    ...removeJob(schema, job),
    ...(page?.(schema) ?? []),
    ...(cursor && cursor.was !== cursor.is ? [cursorAt(schema, job, cursor.is)] : []),
    ...(error === null ? [] : logRow(schema, { ...row, error })),
  ];
  await store.write({ plan: (schema) => ({ changes: [], mutations: steps(schema) }) });
}

/** Sets the cursor for the next run, unless the trigger now has another table. */
function cursorAt(schema: Schema, job: Job, cursor: string | null): Mutation {
  const table = tableOf(schema, triggerTable);
  return {
    kind: 'updateAll',
    table,
    filter: { kind: 'and', items: [is(table, 'objectId', triggerOf(job)), is(table, 'table', job.className)] },
    assignments: assignmentsOf(table, { _cursor: cursor }),
  };
}

const triggerOf = ({ triggers: [id = ''] }: Job): string => id;

/** Only the mutations of the run's own row fail if their row is missing; missing records are skipped. */
const hasLostRun = (error: unknown): boolean => error instanceof ServiceError && error.key === 'objectNotFound';
