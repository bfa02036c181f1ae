/** Maximum number of includes that are read at the same time. */
const MAX_CONCURRENT_INCLUDES = 10;

/**
 * Processes the includes of one level, a group at a time, so that other reads on the shared connection get in between. Waits for a whole group, so
 * that nothing is still running when an error is thrown.
 */
export async function inBatches<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const all: U[] = [];
  for (let at = 0; at < items.length; at += MAX_CONCURRENT_INCLUDES) {
    const done = await Promise.allSettled(items.slice(at, at + MAX_CONCURRENT_INCLUDES).map(work));
    for (const each of done) {
      if (each.status === 'rejected') throw each.reason;
      all.push(each.value);
    }
  }
  return all;
}
