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
import { type Job, noteJob, queueTable, removeJob, stateOf } from '../queue/index.ts';
import { is } from '../queue/steps.ts';
import { readDefinition, type Scheduled, triggerTable } from './definitions.ts';
import { chosenAfter, writeRows } from './records.ts';

/** CONTRACT "Triggers": records of a run. */
const MAX_RECORDS = 1_000;
/** Records of one read and one commit: as many as the event loop reads at once. */
const PAGE_SIZE = 200;

/** How far a run is: `state` of its row. */
interface Progress {
  /** The objectId of the last record that was queued; empty: none; left out: the run has not begun. */
  readonly after?: string;
  /** How many were. */
  readonly done?: number;
}

/** The same, and the text of `state` that says so. */
interface Noted extends Progress {
  readonly was: string | null;
}

/** Why a run ends before its last record, or what else is to be known of it. */
const reasons = {
  gone: 'The trigger was deleted before it could run.',
  off: 'The trigger was switched off before it could run.',
  changed: 'The trigger was changed before it could run.',
  bounded: 'Only the first 1,000 records were run; the rest follow at the next run.',
} as const;

/**
 * Works a run off: queues a job for each record of the trigger's table that matches its criteria, in the order of their objectIds, at most
 * 1,000 (CONTRACT "Triggers"). Each page is one commit with the note how far the run is, so that a crash neither loses nor doubles a
 * record. When it resolves the row of the run is gone, or is another process's.
 * @param isOutOfPatience whether a read that takes too long ends the run: others did before
 * @throws unavailable, outcomeUnknown, timeout; then the run goes on from there when it is called again
 */
export async function expand(system: AutomationSystem, job: Job, isOutOfPatience = false): Promise<void> {
  const { store } = system;
  try {
    // A table that another process has just made has its records.
    await store.whenCurrent();
    const progress = await readProgress(store, job);
    if (progress) await workOff(system, job, progress, isOutOfPatience);
  } catch (error) {
    if (!isTakenOver(error)) throw error;
  }
}

const ownFields = ['state', 'owner'];

/**
 * Read anew each time: a commit whose answer was lost has been carried out or not.
 * @returns `null` where the run has ended, or is another process's
 */
async function readProgress(store: Store, { id, owner }: Job): Promise<Noted | null> {
  const row = await readRow<{ state?: string; owner?: string }>(store, queueTable, ownFields, id);
  if (row?.owner !== owner) return null;
  const was = row.state ?? null;
  return { ...progressIn(was), was };
}

/** What cannot be read has not begun. */
function progressIn(state: string | null): Progress {
  const { after, done } = stateOf({ state });
  return {
    ...(typeof after === 'string' && { after }),
    ...(typeof done === 'number' && { done: Math.max(0, Math.min(MAX_RECORDS, done)) }),
  };
}

async function workOff(system: AutomationSystem, row: Job, before: Noted, isOutOfPatience: boolean): Promise<void> {
  const { store } = system;
  let job = { ...row, was: before.was };
  const scheduled = await readDefinition(store, triggerOf(job));
  const refusal = refusalOf(scheduled, job);
  if (!scheduled || refusal !== null) return end(store, job, { error: refusal });
  const { trigger, cursor } = scheduled;
  let { after = cursor ?? '', done = 0 } = before;
  for (;;) {
    const wanted = Math.min(PAGE_SIZE, MAX_RECORDS - done);
    const ids = await orReason(chosenFor(system, trigger, after, wanted), isOutOfPatience);
    if (typeof ids === 'string') return end(store, job, { error: ids, cursor: { was: cursor, is: after || null } });
    after = ids.at(-1) ?? after;
    done += ids.length;
    const page = writeRows(trigger, ids, job.owner);
    if (ids.length < wanted) return end(store, job, { page, cursor: { was: cursor, is: null } });
    if (done >= MAX_RECORDS) return endBounded(system, job, scheduled, { after, page, isOutOfPatience });
    const state = { after, done };
    const noted = job;
    await store.write({ plan: (schema) => ({ changes: [], mutations: [noteJob(schema, noted, { state }), ...page(schema)] }) });
    job = { ...job, was: JSON.stringify(state) };
  }
}

/** The end of a run that has had as many records as it may. */
async function endBounded(
  system: AutomationSystem,
  job: Held,
  { trigger, cursor }: Scheduled,
  { after, page, isOutOfPatience }: { after: string; page: Steps; isOutOfPatience: boolean },
): Promise<void> {
  const rest = await orReason(chosenFor(system, trigger, after, 1), isOutOfPatience);
  const isMore = typeof rest === 'string' || rest.length > 0;
  return end(system.store, job, {
    page,
    cursor: { was: cursor, is: isMore ? after : null },
    error: isMore ? reasons.bounded : null,
  });
}

/** The next records, with the rights that the trigger has now. @throws ActionFailed; what `chosenAfter` throws */
async function chosenFor(system: AutomationSystem, trigger: Trigger, after: string, atMost: number): Promise<string[]> {
  return chosenAfter(system.store, trigger, await actingFor(system, trigger), after, atMost);
}

function refusalOf(scheduled: Scheduled | null, { className }: Job): string | null {
  if (!scheduled) return reasons.gone;
  if (scheduled.schedule === null) return reasons.off;
  return scheduled.trigger.table === className ? null : reasons.changed;
}

/** What a read found, or why there will never be an answer. @throws faults that pass, and those of ours */
async function orReason<T>(read: Promise<readonly T[]>, isOutOfPatience: boolean): Promise<readonly T[] | string> {
  try {
    return await read;
  } catch (error) {
    const isFinal = error instanceof ActionFailed || isRefusal(error) || (isOutOfPatience && isTimeout(error));
    if (isFinal) return (error as Error).message;
    throw error;
  }
}

type Steps = (schema: Schema) => readonly Mutation[];
/** A job, and the `state` that its row has. */
type Held = Job & { readonly was: string | null };

/** How a run ends. */
interface Ending {
  /** The rows of its last records. */
  readonly page?: Steps;
  /** For the log; `null` where there is nothing to tell. */
  readonly error?: string | null;
  /** Where this run began, and where the next one does. */
  readonly cursor?: { readonly was: string | null; readonly is: string | null };
}

async function end(store: Store, job: Held, { page, error = null, cursor }: Ending): Promise<void> {
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

/** Sets where the next run begins, unless the trigger is about another table by now. */
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

/** Only the steps of the run's own row fail where it is not there: records that are gone are passed over. */
const isTakenOver = (error: unknown): boolean => error instanceof ServiceError && error.key === 'objectNotFound';
