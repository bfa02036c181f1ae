import { existsSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { bytesAt, isOfLog, MARK_BYTES } from './wal-header.ts';

/** Time within which a service detects that a part of a file was removed, and recreates it. */
const MAX_WAIT_MS = 3_000;
const POLL_INTERVAL_MS = 50;

/**
 * Waits for the service that has a file open if the file's WAL (`-wal`) or WAL index (`-shm`) was removed. Processes coordinate their writes by the
 * index: one that opens the file without it creates another, and both overwrite each other's pages.
 * @param isServedElsewhere returns whether another process serves the file
 * @throws OperatorError if another process may have the file open and its index stays missing
 */
export async function whenIndexed(path: string, isServedElsewhere: () => boolean): Promise<void> {
  for (const until = performance.now() + MAX_WAIT_MS; performance.now() < until; await wait(POLL_INTERVAL_MS)) {
    const hasIndex = existsSync(`${path}-shm`);
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    const isWhole = log ? hasIndex || log.size === 0 : !isOfLog(bytesAt(`${path}-mark`, 0, MARK_BYTES));
    if (isWhole || !isServedElsewhere()) return;
  }
  if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size)
    throw new OperatorError(`${path}-shm was removed while the service runs: stop it first`);
}
