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
 * Queues the due runs of a system. If several processes try, each run is queued by one of them. Missed runs are made up for once. Computes the next
 * run of definitions that lack it.
 * Reference: triggers.md#schedules.
 * @param now milliseconds since 1970
 * @param skew tolerated milliseconds by which a next run may be later than the schedule yields, since clocks of processes differ. A later one was
 *   computed before the clock was set back, and is recomputed
 * @returns when the next run of the system is due; `null` if there is none
 * @throws unavailable, timeout; what was not queued is still due
 */
export async function runDue({ store }: AutomationSystem, now: number, skew = Number.POSITIVE_INFINITY): Promise<number | null> {
  await store.whenCurrent();
  const outcomes = await Promise.allSettled(
    (await readScheduled(store)).map((scheduled) => checkOne(store, scheduled, now, skew)),
  );
  let earliest: number | null = null;
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') throw outcome.reason;
    if (outcome.value !== null && (earliest === null || outcome.value < earliest)) earliest = outcome.value;
  }
  return earliest;
}

/** @returns when the trigger runs next */
async function checkOne(store: Store, listed: Scheduled, now: number, skew: number): Promise<number | null> {
  // The trigger cache may be older than the row.
  const scheduled = listed.isBroken ? await readDefinition(store, listed.trigger.id) : listed;
  if (!scheduled) return null;
  const { schedule, isBroken, nextRun: due } = scheduled;
  if (isBroken) await giveUp(store, scheduled, now);
  if (schedule === null) return null;
  if (due !== null && due > now && !isAheadOfClock(schedule, due, now, skew)) return due;
  const next = nextRun(schedule, now);
  if (due !== null && due <= now) await claim(store, scheduled, { now, next });
  else if (next !== due) await updateDefinition(store, scheduled, { nextRun: next }, () => []);
  return next;
}

/** Whether a next run was computed before the clock was set back. Times that occur again run again. */
function isAheadOfClock(schedule: Schedule, due: number, now: number, skew: number): boolean {
  if (skew === Number.POSITIVE_INFINITY) return false;
  const latest = nextRun(schedule, now + skew);
  return latest !== null && due > latest;
}

/** Logs a definition that was valid and no longer is. Clearing `nextRun` ensures that it is logged once. */
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
  await updateDefinition(store, scheduled, { nextRun: null }, (schema) => logRow(schema, row));
}

async function claim(
  store: Store,
  scheduled: Scheduled,
  { now, next }: { readonly now: number; readonly next: number | null },
): Promise<void> {
  const { id, table } = scheduled.trigger;
  // If the previous run has not ended, it chooses the records of this one, or they are still being processed. Its row was queued before `nextRun`
  // moved to `due`.
  if (await isQueued(store, id)) return updateDefinition(store, scheduled, { nextRun: next }, () => []);
  const row = {
    ...{ objectId: newRowId(now), createdAt: now, kind: 'schedule', event: 'schedule', level: 1 },
    ...{ triggers: id, objectClass: table, objectIdValue: id, owner: store.cluster.processId },
  };
  await updateDefinition(store, scheduled, { nextRun: next, lastRun: now }, (schema) => jobRow(schema, row));
  return undefined;
}

/**
 * Whether the queue contains a run of the trigger, or records that a run chose. Without this check, a schedule that takes longer than its interval
 * would fill the queue. The run's row stores the trigger's id in `objectIdValue`, which has an index.
 */
async function isQueued(store: Store, triggerId: string): Promise<boolean> {
  const isThere = async (values: Readonly<Record<string, string>>) => {
    const filter = (table: TableSchema): Filter => ({
      kind: 'and',
      items: Object.entries(values).map(([name, value]) => is(table, name, value)),
    });
    return (await readRows(store, { className: queueTable, fields: ['objectId'], filter, limit: 1 })).length > 0;
  };
  // In this order, because the run's row is removed in the commit that queues its last records.
  return (
    (await isThere({ objectIdValue: triggerId, kind: 'schedule' })) ||
    (await isThere({ kind: 'write', event: 'schedule', triggers: triggerId }))
  );
}

/**
 * Updates a definition's run times in one commit with further mutations. Does nothing if the definition has changed since it was read: another
 * process was first, or a caller has changed the schedule.
 */
async function updateDefinition(
  store: Store,
  scheduled: Scheduled,
  values: OwnValues,
  steps: (schema: Schema) => readonly Mutation[],
): Promise<void> {
  try {
    await store.write({
      plan: (schema) => ({
        changes: [],
        mutations: [updateOf(tableOf(schema, triggerTable), scheduled, values), ...steps(schema)],
      }),
    });
  } catch (error) {
    if (!(error instanceof ServiceError && error.key === 'objectNotFound')) throw error;
  }
}

/** Does not set `updatedAt`, because the definition itself does not change. */
function updateOf(table: TableSchema, { trigger, nextRun: due, writtenAt }: Scheduled, values: OwnValues): Mutation {
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
