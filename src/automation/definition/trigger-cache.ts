import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject } from '../../kernel/json.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import type { Trigger } from '../model/model.ts';
import { among } from '../queue/steps.ts';
import { authorField, parseTrigger, parts, sizeOf } from './definition.ts';

/** The triggers of each store, remembered until anybody writes to `_Trigger`. */
export interface ActiveTriggers {
  /** Whether they are known as of now. */
  isReady(store: Store): boolean;
  /** Reads those that have changed, where they are not known as of now. @throws unavailable, timeout */
  ready(store: Store): Promise<void>;
  /** The active triggers of a table in the order of their creation, as of the last `ready`. */
  of(store: Store, className: string): readonly Trigger[];
  /** A trigger, switched off or not, as of the last `ready`. */
  byId(store: Store, id: string): Trigger | undefined;
  /** The size of each definition by its id (`sizeOf`), as of the last `ready`; `undefined` where there was none. */
  sizes(store: Store): ReadonlyMap<string, { readonly size: number }> | undefined;
}

/** A definition as it was read. */
interface Entry {
  /** What is another one where the row has changed. */
  readonly stamp: string;
  readonly size: number;
  readonly trigger: Trigger;
}

/** The triggers of a store, as of a version of `_Trigger`. */
interface Known {
  readonly version: number;
  /** Of the reads of this process: which one it was. */
  readonly turn: number;
  readonly byTable: ReadonlyMap<string, readonly Trigger[]>;
  /** In the order of creation. */
  readonly entries: ReadonlyMap<string, Entry>;
}

const className = '_Trigger';
/**
 * What tells whether a row has changed. Each change of a definition makes `updatedAt` later, within a millisecond too (`RuledFields.version`),
 * and none is imported with it; what the service itself writes leaves it: a table that is dropped switches its triggers off.
 */
const stampFields: readonly string[] = ['objectId', 'createdAt', 'updatedAt', 'Active', authorField];
const fields: readonly string[] = [...new Set([...stampFields, ...parts])];
/** Definitions that are read before others have their turn. */
const BATCH_SIZE = 50;
const none: readonly Trigger[] = [];

const known = new WeakMap<Store, Known>();
let turns = 0;
/** Who waits for the same version waits for the same read. */
const reading = new WeakMap<Store, { readonly version: number; readonly done: Promise<void> }>();

export const activeTriggers: ActiveTriggers = {
  isReady: (store) => known.get(store)?.version === store.tableVersion(className),
  ready(store) {
    const version = store.tableVersion(className);
    if (known.get(store)?.version === version) return Promise.resolve();
    const under = reading.get(store);
    if (under?.version === version) return under.done;
    const done = read(store, version).finally(() => {
      if (reading.get(store)?.done === done) reading.delete(store);
    });
    reading.set(store, { version, done });
    return done;
  },
  of: (store, table) => known.get(store)?.byTable.get(table) ?? none,
  byId: (store, id) => known.get(store)?.entries.get(id)?.trigger,
  sizes: (store) => known.get(store)?.entries,
};

/** @param version from before reading: a write meanwhile is then seen at the next `ready` */
async function read(store: Store, version: number): Promise<void> {
  const turn = ++turns;
  const rows = await readRows<JsonObject>(store, { className, fields: stampFields, filter: () => ({ kind: 'always' }) });
  const before = known.get(store)?.entries;
  const changed = rows.filter((row) => before?.get(idOf(row))?.stamp !== stampOf(row)).map(idOf);
  const fresh = await readEntries(store, changed);
  // One that began later was done earlier.
  if ((known.get(store)?.turn ?? 0) > turn) return;
  const entries = new Map<string, Entry>();
  for (const id of rows.map(idOf)) {
    const entry = fresh.get(id) ?? before?.get(id);
    if (entry) entries.set(id, entry);
  }
  known.set(store, { version, turn, byTable: byTableOf(entries.values()), entries });
}

/** Definitions by their ids; those that are gone by then are missing. */
async function readEntries(store: Store, ids: readonly string[]): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  for (let from = 0; from < ids.length; from += BATCH_SIZE) {
    if (from > 0) await nextTurn();
    const portion = ids.slice(from, from + BATCH_SIZE);
    const filter = (table: Parameters<typeof among>[0]) => among(table, 'objectId', portion);
    for (const row of await readRows<JsonObject>(store, { className, fields, filter, limit: portion.length }))
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
