import { readFileSync } from 'node:fs';

/** Descriptors that connections leave to the store, files and other servers, at the least. */
const MIN_RESERVE = 128;

/**
 * How many connections the process may hold, so that the store can open what it needs however many clients there are.
 * @returns `undefined` where nothing bounds them
 */
export function mostConnections(limit = descriptorLimit()): number | undefined {
  if (limit === undefined) return undefined;
  return Math.floor(Math.max(limit / 4, limit - Math.max(MIN_RESERVE, limit / 4)));
}

/** Descriptors that the process may have open (`ulimit -n`); `undefined` where the system does not tell. */
function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)\s/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
