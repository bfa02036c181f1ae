import { readFileSync } from 'node:fs';

/** Minimum number of file descriptors reserved for the store, files and outgoing connections. */
const MIN_RESERVE = 128;

/** Returns how many connections the process may hold, so that the store can always open the files it needs; `undefined` if there is no limit. */
export function maxConnections(limit = descriptorLimit()): number | undefined {
  if (limit === undefined) return undefined;
  return Math.floor(Math.max(limit / 4, limit - Math.max(MIN_RESERVE, limit / 4)));
}

/** Returns the limit of open file descriptors (`ulimit -n`); `undefined` if the operating system does not report it. */
function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)\s/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
