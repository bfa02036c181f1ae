/**
 * Caches the result of a function by object, for the lifetime of that object.
 * @param make called once for each object
 * @returns a function that returns the same result for the same object
 */
export function memoByObject<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined || made.has(key)) return known as V;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}
