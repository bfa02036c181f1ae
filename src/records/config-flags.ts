import type { JsonObject } from '../kernel/json.ts';
import type { Store } from '../storage/port.ts';
import { readRows } from './rows.ts';

/** Flags as of a version of the table. */
interface Remembered {
  readonly version: number;
  readonly flags: Map<string, JsonObject | null>;
}

const remembered = new WeakMap<Store, Remembered>();

/**
 * The `Value` of a row of `Config`; `null` where there is none. SPEC "`Config`": of several rows of a name the one created first counts.
 * Remembered until anybody writes to the table.
 * @param name a flag that the service knows, such as `AcceptWebLeads`
 */
export async function configFlag(store: Store, name: string): Promise<JsonObject | null> {
  // Before reading: a write meanwhile is then seen at the next request.
  const version = store.tableVersion('Config');
  let known = remembered.get(store);
  if (known?.version !== version) {
    known = { version, flags: new Map() };
    remembered.set(store, known);
  }
  let value = known.flags.get(name);
  if (value === undefined) {
    value = await readFlag(store, name);
    known.flags.set(name, value);
  }
  return value;
}

async function readFlag(store: Store, name: string): Promise<JsonObject | null> {
  const [row] = await readRows<{ readonly Value?: JsonObject }>(store, {
    className: 'Config',
    fields: ['Value'],
    filter: (table) => {
      const field = table.fields.get('Name');
      return field ? { kind: 'compare', field, op: 'eq', value: name } : null;
    },
    limit: 1,
  });
  return row?.Value ?? null;
}
