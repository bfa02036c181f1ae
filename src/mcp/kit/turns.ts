/** The last work under way, by what it works on; kept only while there is work. */
const last = new WeakMap<object, Promise<unknown>>();

/**
 * Does works one after the other: those that read, decide and then write, and would else decide by what the other is about to change.
 * @param of a system's store
 */
export function inTurn<T>(of: object, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(of) ?? Promise.resolve()).then(work);
  const ended = mine.catch(() => undefined);
  last.set(of, ended);
  return mine;
}
