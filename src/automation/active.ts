import type { JsonObject } from '../kernel/json.ts';
import { readRows } from '../records/index.ts';
import type { Store } from '../storage/port.ts';
import { authorField, parts } from './definition/definition.ts';
import { parseTrigger } from './definition/index.ts';
import type { Trigger } from './model.ts';

/** The triggers of each store, remembered until anybody writes to `_Trigger`. */
export interface ActiveTriggers {
  /** Reads them where they are not known as of now. At once where they are. @throws unavailable, timeout */
  ready(store: Store): undefined | Promise<void>;
  /** The active triggers of a table in the order of their creation, as of the last `ready`. */
  of(store: Store, className: string): readonly Trigger[];
  /** A trigger, switched off or not, as of the last `ready`. */
  byId(store: Store, id: string): Trigger | undefined;
}

/** The triggers of a store, as of a version of `_Trigger`. */
interface Known {
  readonly version: number;
  /** Of the reads of this process: which one it was. */
  readonly turn: number;
  readonly byTable: ReadonlyMap<string, readonly Trigger[]>;
  readonly byId: ReadonlyMap<string, Trigger>;
}

const className = '_Trigger';
const fields: readonly string[] = ['objectId', ...parts, authorField];
const none: readonly Trigger[] = [];

const known = new WeakMap<Store, Known>();
let turns = 0;
/** Who waits for the same version waits for the same read. */
const reading = new WeakMap<Store, { readonly version: number; readonly done: Promise<void> }>();

export const activeTriggers: ActiveTriggers = {
  ready(store) {
    const version = store.tableVersion(className);
    if (known.get(store)?.version === version) return undefined;
    const under = reading.get(store);
    if (under?.version === version) return under.done;
    const done = read(store, version).finally(() => {
      if (reading.get(store)?.done === done) reading.delete(store);
    });
    reading.set(store, { version, done });
    return done;
  },
  of: (store, table) => known.get(store)?.byTable.get(table) ?? none,
  byId: (store, id) => known.get(store)?.byId.get(id),
};

/** @param version from before reading: a write meanwhile is then seen at the next `ready` */
async function read(store: Store, version: number): Promise<void> {
  const turn = ++turns;
  const rows = await readRows<JsonObject>(store, { className, fields, filter: () => ({ kind: 'always' }) });
  // One that began later was done earlier.
  if ((known.get(store)?.turn ?? 0) > turn) return;
  const triggers = rows.map(parseTrigger);
  const byTable = new Map<string, Trigger[]>();
  for (const trigger of triggers) {
    if (!trigger.isActive) continue;
    const ofTable = byTable.get(trigger.table);
    if (ofTable) ofTable.push(trigger);
    else byTable.set(trigger.table, [trigger]);
  }
  known.set(store, { version, turn, byTable, byId: new Map(triggers.map((trigger) => [trigger.id, trigger])) });
}
