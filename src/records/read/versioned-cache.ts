import type { Store } from '../../storage/port.ts';

/** Maximum number of keys per store. Custom functions may pass keys that their callers chose. */
const MAX_KEYS = 1_000;

/** Values computed from a table, as of a version of the table. */
interface CachedValues<T> {
  readonly version: number;
  readonly values: Map<string, T>;
}

/**
 * Returns a cached read of a system table. Values are cached per store until the table is written to.
 * @param className a watched table (`isWatched`), so that writes of other processes are noticed
 * @param read reads the value of a key
 */
export function versionedCache<T>(
  className: string,
  read: (store: Store, key: string) => Promise<T>,
): (store: Store, key: string) => Promise<T> {
  const remembered = new WeakMap<Store, CachedValues<T>>();
  return async (store, key) => {
    // Taken before reading, so that a concurrent write invalidates the entry at the next request.
    const version = store.tableVersion(className);
    let known = remembered.get(store);
    if (known?.version !== version) {
      known = { version, values: new Map() };
      remembered.set(store, known);
    }
    let value = known.values.get(key);
    if (value === undefined) {
      value = await read(store, key);
      if (known.values.size >= MAX_KEYS) known.values.clear();
      known.values.set(key, value);
    }
    return value;
  };
}
