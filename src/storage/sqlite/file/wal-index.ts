import { existsSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { bytesAt, isOfLog, MARK_BYTES } from './wal-header.ts';

/** Milliseconds in which a service has noticed that a part of a file was removed, and has made it anew. */
const NOTICED_MS = 3_000;
const PAUSE_MS = 50;

/**
 * Waits for the service that has a file open where its log (`-wal`) or the log's index (`-shm`) was removed. Processes agree by the index on where
 * each writes: one that opens the file without it makes another, and both write over each other.
 * @param isServedElsewhere whether another process serves what the file is of
 * @throws OperatorError where another process may have the file open and its index stays away
 */
export async function whenIndexed(path: string, isServedElsewhere: () => boolean): Promise<void> {
  for (const until = performance.now() + NOTICED_MS; performance.now() < until; await wait(PAUSE_MS)) {
    const hasIndex = existsSync(`${path}-shm`);
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    const isWhole = log ? hasIndex || log.size === 0 : !isOfLog(bytesAt(`${path}-mark`, 0, MARK_BYTES));
    if (isWhole || !isServedElsewhere()) return;
  }
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size)
    throw new OperatorError(`${path}-shm was removed while the service runs: stop it first`);
}
