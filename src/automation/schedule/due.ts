import { ServiceError } from '../../errors/fail.ts';
import { newRowId } from '../../kernel/ids.ts';
import type { Filter } from '../../query/model/filter.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { assignmentsOf, type OwnValues } from '../../storage/column-values.ts';
import type { Mutation, Store } from '../../storage/port.ts';
import { nextRun } from '../definition/index.ts';
import type { AutomationSystem } from '../model/action.ts';
import type { Schedule } from '../model/model.ts';
import { logRow } from '../model/trigger-log.ts';
import { jobRow, queueTable } from '../queue/index.ts';
import { is } from '../queue/steps.ts';
import { readDefinition, readScheduled, type Scheduled, triggerTable } from './definitions.ts';

/**
 * Queues the runs of a system that are due (CONTRACT "Triggers"; docs/decisions.md "Triggers": Schedules). Of many processes one queues each
 * of them; runs that were missed are made up once. Definitions that do not know their next run are given one.
 * @param now milliseconds since 1970
 * @param skew how much further ahead than the schedule says a next run may be, in milliseconds, since clocks of processes differ: one that is
 *   further is of a time before the clock was set back, and is found anew
 * @returns when the next run of the system is due; `null` where there is none
 * @throws unavailable, timeout; what was not queued is still due
 */
export async function runDue({ store }: AutomationSystem, now: number, skew = Number.POSITIVE_INFINITY): Promise<number | null> {
  await store.whenCurrent();
  const outcomes = await Promise.allSettled((await readScheduled(store)).map((scheduled) => look(store, scheduled, now, skew)));
  let earliest: number | null = null;
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
    if (outcome.value !== null && (earliest === null || outcome.value < earliest)) earliest = outcome.value;
  }
  return earliest;
}

/** @returns when the trigger runs next */
async function look(store: Store, listed: Scheduled, now: number, skew: number): Promise<number | null> {
  // What is known of all triggers may be older than the row.
  const scheduled = listed.isBroken ? await readDefinition(store, listed.trigger.id) : listed;
  if (!scheduled) return null;
  const { schedule, isBroken, nextRun: due } = scheduled;
  if (isBroken) await giveUp(store, scheduled, now);
  if (schedule === null) return null;
  if (due !== null && due > now && !isAstray(schedule, due, now, skew)) return due;
  const next = nextRun(schedule, now);
  if (due !== null && due <= now) await claim(store, scheduled, { now, next });
  else if (next !== due) await change(store, scheduled, { nextRun: next }, () => []);
  return next;
}

/** Whether a next run is of a time before the clock was set back: times that come again run again. */
function isAstray(schedule: Schedule, due: number, now: number, skew: number): boolean {
  if (skew === Number.POSITIVE_INFINITY) return false;
  const latest = nextRun(schedule, now + skew);
  return latest !== null && due > latest;
}

/** A definition that was read once and no longer is. Only the row's own time tells that it was, so that it is noted once. */
async function giveUp(store: Store, scheduled: Scheduled, now: number): Promise<void> {
  if (scheduled.nextRun === null) return;
  const error = 'The definition of the trigger cannot be read: it no longer runs.';
  const id = newRowId(now);
  const row = {
    id,
    at: now,
    triggerId: scheduled.trigger.id,
    actionId: null,
    event: 'schedule',
    objectId: '',
    data: null,
    error,
  } as const;
  await change(store, scheduled, { nextRun: null }, (schema) => logRow(schema, row));
}

async function claim(
  store: Store,
  scheduled: Scheduled,
  { now, next }: { readonly now: number; readonly next: number | null },
): Promise<void> {
  const { id, table } = scheduled.trigger;
  // A run that has not ended yet takes the records that this one would, or they are still at work. The process that moved `nextRun` to `due` had queued it by then.
  if (await isQueued(store, id)) return change(store, scheduled, { nextRun: next }, () => []);
  const row = {
    ...{ objectId: newRowId(now), createdAt: now, kind: 'schedule', event: 'schedule', level: 1 },
    ...{ triggers: id, objectClass: table, objectIdValue: id, owner: store.cluster.processId },
  };
  await change(store, scheduled, { nextRun: next, lastRun: now }, (schema) => jobRow(schema, row));
  return undefined;
}

/**
 * Whether a run of a trigger is in the queue, or records that one chose: were it not for these, a schedule that is slower than its clock would
 * fill the queue. The run's own row names the trigger where others name a record, for which there is an index.
 */
async function isQueued(store: Store, triggerId: string): Promise<boolean> {
  const isThere = async (values: Readonly<Record<string, string>>) => {
    const filter = (table: TableSchema): Filter => ({
      kind: 'and',
      items: Object.entries(values).map(([name, value]) => is(table, name, value)),
    });
    return (await readRows(store, { className: queueTable, fields: ['objectId'], filter, limit: 1 })).length > 0;
  };
  // In this order: the run goes in the commit that queues its last records.
  return (
    (await isThere({ objectIdValue: triggerId, kind: 'schedule' })) ||
    (await isThere({ kind: 'write', event: 'schedule', triggers: triggerId }))
  );
}

/**
 * Changes what a definition notes of its runs, in one commit with further steps. Nothing where it has changed since it was read: then
 * another process was first, or somebody has written another schedule.
 */
async function change(
  store: Store,
  scheduled: Scheduled,
  values: OwnValues,
  steps: (schema: Schema) => readonly Mutation[],
): Promise<void> {
  try {
    await store.write({
      plan: (schema) => ({
        changes: [],
        mutations: [noteOf(tableOf(schema, triggerTable), scheduled, values), ...steps(schema)],
      }),
    });
  } catch (error) {
    if (!(error instanceof ServiceError && error.key === 'objectNotFound')) throw error;
  }
}

/** `updatedAt` stays: nobody has changed the definition. */
function noteOf(table: TableSchema, { trigger, nextRun: due, writtenAt }: Scheduled, values: OwnValues): Mutation {
  const at = fieldOf(table, 'nextRun');
  return {
    kind: 'update',
    table,
    objectId: trigger.id,
    guard: null,
    condition: {
      kind: 'and',
      items: [
        due === null
          ? { kind: 'not', item: { kind: 'exists', ref: { field: at, path: [] } } }
          : { kind: 'compare', field: at, op: 'eq', value: due },
        { kind: 'compare', field: fieldOf(table, 'updatedAt'), op: 'eq', value: writtenAt },
        { kind: 'not', item: { kind: 'compare', field: fieldOf(table, 'Active'), op: 'eq', value: false } },
      ],
    },
    assignments: assignmentsOf(table, values),
    returning: [],
  };
}
