import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../kernel/json.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { Trigger } from '../model/model.ts';
import { among } from '../queue/steps.ts';
import { authorField, definitionFields, parseTrigger, sizeOf } from './definition.ts';

/** A cache of the triggers of each store, invalidated by any write to `_Trigger`. */
export interface ActiveTriggers {
  /** Whether the cache is current. */
  isReady(store: Store): boolean;
  /** Refreshes the cache if it is not current, reading only changed definitions. @throws unavailable, timeout */
  ready(store: Store): Promise<void>;
  /** Returns the active triggers of a table in order of creation, as of the last `ready`. */
  of(store: Store, className: string): readonly Trigger[];
  /** Returns a trigger, active or not, as of the last `ready`. */
  byId(store: Store, id: string): Trigger | undefined;
  /** Returns the size of each definition by its id (`sizeOf`), as of the last `ready`; `undefined` before the first. */
  sizes(store: Store): ReadonlyMap<string, { readonly size: number }> | undefined;
}

/** A cached definition. */
interface Entry {
  /** Differs if the row has changed. */
  readonly stamp: string;
  readonly size: number;
  readonly trigger: Trigger;
}

/** The triggers of a store at a version of `_Trigger`. */
interface CachedTriggers {
  readonly version: number;
  /** Sequence number of the read in this process. */
  readonly turn: number;
  readonly byTable: ReadonlyMap<string, readonly Trigger[]>;
  /** In the order of creation. */
  readonly entries: ReadonlyMap<string, Entry>;
}

const className = '_Trigger';
/**
 * Fields that reveal a change of a row. Every change by a caller increases `updatedAt`, even within a millisecond (`RuledFields.version`), and
 * imports do not set it. Writes of the service itself keep it: dropping a table only deactivates its triggers, so `Active` is included.
 */
const stampFields: readonly string[] = ['objectId', 'createdAt', 'updatedAt', 'Active', authorField];
const fields: readonly string[] = [...new Set([...stampFields, ...definitionFields])];
/** Definitions parsed before the event loop is yielded. */
const BATCH_SIZE = 50;
const none: readonly Trigger[] = [];

const cached = new WeakMap<Store, CachedTriggers>();
let turns = 0;
/** Callers that need the same version share one read. */
const reading = new WeakMap<Store, { readonly version: number; readonly done: Promise<void> }>();

export const activeTriggers: ActiveTriggers = {
  isReady: (store) => cached.get(store)?.version === store.tableVersion(className),
  ready(store) {
    const version = store.tableVersion(className);
    if (cached.get(store)?.version === version) return Promise.resolve();
    const pending = reading.get(store);
    if (pending?.version === version) return pending.done;
    const done = read(store, version).finally(() => {
      if (reading.get(store)?.done === done) reading.delete(store);
    });
    reading.set(store, { version, done });
    return done;
  },
  of: (store, table) => cached.get(store)?.byTable.get(table) ?? none,
  byId: (store, id) => cached.get(store)?.entries.get(id)?.trigger,
  sizes: (store) => cached.get(store)?.entries,
};

/** @param version taken before reading, so that a concurrent write is detected by the next `ready` */
async function read(store: Store, version: number): Promise<void> {
  const turn = ++turns;
  const rows = await readRows<JsonObject>(store, { className, fields: stampFields, filter: () => ({ kind: 'always' }) });
  const before = cached.get(store)?.entries;
  const changed = rows.filter((row) => before?.get(idOf(row))?.stamp !== stampOf(row)).map(idOf);
  const fresh = await readEntries(store, changed);
  // A read that began later has finished already.
  if ((cached.get(store)?.turn ?? 0) > turn) return;
  const entries = new Map<string, Entry>();
  for (const id of rows.map(idOf)) {
    const entry = fresh.get(id) ?? before?.get(id);
    if (entry) entries.set(id, entry);
  }
  cached.set(store, { version, turn, byTable: byTableOf(entries.values()), entries });
}

/** Returns definitions by id; deleted ones are missing. */
async function readEntries(store: Store, ids: readonly string[]): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  for (let from = 0; from < ids.length; from += BATCH_SIZE) {
    if (from > 0) await nextTurn();
    const batch = ids.slice(from, from + BATCH_SIZE);
    const filter = (table: Parameters<typeof among>[0]) => among(table, 'objectId', batch);
    for (const row of await readRows<JsonObject>(store, { className, fields, filter, limit: batch.length }))
      found.set(idOf(row), { stamp: stampOf(row), size: sizeOf(row), trigger: parseTrigger(row) });
  }
  return found;
}

const idOf = ({ objectId }: JsonObject): string => objectId as string;
const stampOf = (row: JsonObject): string => stampFields.map((name) => String(row[name] ?? null)).join();

function byTableOf(entries: Iterable<Entry>): Map<string, Trigger[]> {
  const byTable = new Map<string, Trigger[]>();
  for (const { trigger } of entries) {
    if (!trigger.isActive) continue;
    const ofTable = byTable.get(trigger.table);
    if (ofTable) ofTable.push(trigger);
    else byTable.set(trigger.table, [trigger]);
  }
  return byTable;
}
