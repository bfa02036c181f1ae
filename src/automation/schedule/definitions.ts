import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { readRow, readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { authorField, definitionFields } from '../definition/definition.ts';
import { parseTrigger } from '../definition/index.ts';
import { activeTriggers } from '../definition/trigger-cache.ts';
import type { Schedule, Trigger } from '../model/model.ts';

/** The table of trigger definitions. */
export const triggerTable = '_Trigger';

/** A definition with a schedule. Times are milliseconds since 1970. */
export interface Scheduled {
  readonly trigger: Trigger;
  /** `null`: the definition is inactive or invalid. */
  readonly schedule: Schedule | null;
  readonly nextRun: number | null;
  /** When a caller last wrote the definition; writes of the service do not change it. */
  readonly writtenAt: number;
  /** Whether it is inactive only because it is invalid. */
  readonly isBroken: boolean;
  /** objectId of the last record of the previous run, if more records followed; `null`: the next run starts with the first record. */
  readonly cursor: string | null;
}

const timing: readonly string[] = ['objectId', 'updatedAt', 'events', 'Active', 'nextRun', '_cursor'];
const fields: readonly string[] = ['objectId', 'updatedAt', ...definitionFields, authorField, 'nextRun', '_cursor'];

/** Returns all definitions of a system with a schedule, in order of creation. */
export async function readScheduled(store: Store): Promise<Scheduled[]> {
  await activeTriggers.ready(store);
  const rows = await readRows<JsonObject>(store, {
    className: triggerTable,
    fields: timing,
    filter(table) {
      const field = table.fields.get('schedule');
      return field && keepsRuns(table) ? { kind: 'exists', ref: { field, path: [] } } : null;
    },
  });
  return rows.flatMap((row) => {
    const trigger = activeTriggers.byId(store, row.objectId as string);
    // A definition that is not in the cache yet is handled when it is.
    return trigger ? [scheduledOf(row, trigger)] : [];
  });
}

/** Reads the current definition; `null` if it does not exist. */
export async function readDefinition(store: Store, id: string): Promise<Scheduled | null> {
  const row = await readRow<JsonObject>(store, triggerTable, fields, id);
  return row && scheduledOf(row, parseTrigger(row));
}

/** Whether the table has the fields that store the runs of schedules. */
function keepsRuns(table: TableSchema): boolean {
  return ['nextRun', 'lastRun'].every((name) => table.fields.get(name)?.type === 'Date') && table.fields.has('_cursor');
}

function scheduledOf(row: JsonObject, trigger: Trigger): Scheduled {
  const { events, Active, nextRun, _cursor } = row;
  const isWanted = Array.isArray(events) && events.includes('schedule') && Active !== false;
  const schedule = isWanted && trigger.isActive && trigger.events.has('schedule') ? trigger.schedule : null;
  return {
    trigger,
    schedule,
    nextRun: instantOf(nextRun),
    writtenAt: Date.parse(row.updatedAt as string),
    isBroken: isWanted && schedule === null,
    cursor: typeof _cursor === 'string' && _cursor !== '' ? _cursor : null,
  };
}

/** Parses a Date in wire form. */
function instantOf(value: JsonValue | undefined): number | null {
  return isJsonObject(value) && typeof value.iso === 'string' ? Date.parse(value.iso) : null;
}
