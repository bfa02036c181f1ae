import type { Store } from '../../storage/port.ts';

/** Keys of a store: functions of an operator may ask for what their callers name. */
const MOST_KEYS = 1_000;

/** What was made of a table's records, as of a version of the table. */
interface Remembered<T> {
  readonly version: number;
  readonly values: Map<string, T>;
}

/**
 * Makes a reading of a system table that is remembered for each store until anybody writes to the table.
 * @param className a table that is watched (`isWatched`), so that writes of other processes count too
 * @param read by a key
 */
export function remembering<T>(
  className: string,
  read: (store: Store, key: string) => Promise<T>,
): (store: Store, key: string) => Promise<T> {
  const remembered = new WeakMap<Store, Remembered<T>>();
  return async (store, key) => {
    // Before reading: a write meanwhile is then seen at the next request.
    const version = store.tableVersion(className);
    let known = remembered.get(store);
    if (known?.version !== version) {
      known = { version, values: new Map() };
      remembered.set(store, known);
    }
    let value = known.values.get(key);
    if (value === undefined) {
      value = await read(store, key);
      if (known.values.size >= MOST_KEYS) known.values.clear();
      known.values.set(key, value);
    }
    return value;
  };
}
