import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { readRow, readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { authorField, parts } from '../definition/definition.ts';
import { parseTrigger } from '../definition/index.ts';
import { activeTriggers } from '../definition/trigger-cache.ts';
import type { Schedule, Trigger } from '../model/model.ts';

/** The table of the definitions. */
export const triggerTable = '_Trigger';

/** A definition with a schedule, and when it runs. Times are milliseconds since 1970. */
export interface Scheduled {
  readonly trigger: Trigger;
  /** `null`: the definition is switched off, or cannot be read. */
  readonly schedule: Schedule | null;
  readonly nextRun: number | null;
  /** When somebody last wrote the definition: what the service notes of its runs leaves that as it is. */
  readonly writtenAt: number;
  /** Whether it would run if it could be read. */
  readonly isBroken: boolean;
  /** The objectId of the last record that an earlier run had, where more records followed; `null`: the next run begins with the first. */
  readonly cursor: string | null;
}

const timing: readonly string[] = ['objectId', 'updatedAt', 'events', 'Active', 'nextRun', '_cursor'];
const fields: readonly string[] = ['objectId', 'updatedAt', ...parts, authorField, 'nextRun', '_cursor'];

/** All definitions of a system that have a schedule, in the order of creation. */
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
    // One that is not known yet is looked at when it is.
    return trigger ? [scheduledOf(row, trigger)] : [];
  });
}

/** A definition as it is now; `null` where it is gone. */
export async function readDefinition(store: Store, id: string): Promise<Scheduled | null> {
  const row = await readRow<JsonObject>(store, triggerTable, fields, id);
  return row && scheduledOf(row, parseTrigger(row));
}

/** Whether the table has what schedules are kept in. */
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

/** Of a Date in wire form. */
function instantOf(value: JsonValue | undefined): number | null {
  return isJsonObject(value) && typeof value.iso === 'string' ? Date.parse(value.iso) : null;
}
