import { inDoubtSince } from '../../../errors/system-faults.ts';
import type { Connection } from '../connection/connection.ts';
import { isAfterWriting, missingError } from '../connection/map-error.ts';
import { touchCatalog } from '../schema/catalog.ts';

/** Milliseconds that a look counts for before something is written. */
const LOOK_MS = 5;

/** How often the seal is tried. */
const SEALS = 3;

/**
 * Ends a transaction that writes, which is durable then.
 * @param isInPlace whether the file is still where others will look for it, by a look that may be so old
 * @throws unavailable where nothing of it was done, and will not be after a crash either; outcomeUnknown where that is not certain
 */
export function commit(connection: Connection, isInPlace: (withinMs?: number) => boolean): void {
  if (!isInPlace(LOOK_MS)) {
    connection.rollback();
    throw missingError(connection.path);
  }
  try {
    connection.execute('COMMIT');
  } catch (error) {
    connection.rollback();
    if (!isAfterWriting(error) || seal(connection)) throw error;
    throw inDoubtSince(error);
  }
  if (!isInPlace()) throw inDoubtSince(new Error('the file was taken away while it was written to'));
}

/**
 * Makes a transaction that failed in its COMMIT a failed one for good. What it wrote may lie in the log whole, only not yet known to be on the
 * disk: whoever opens the file after a crash would take it for committed. The next transaction begins at the same place of the log, and each
 * page there continues the checksum of the one before: one that is other than the failed one's first page ends all that followed it. This
 * one is a single page, which a longer transaction does not begin with, and its content is new.
 * @returns whether it was written: flushed to the disk or not, it is what the operating system has at that place
 */
function seal(connection: Connection): boolean {
  for (let attempt = 0; attempt < SEALS; attempt++) {
    try {
      // A connection of its own would not do: the last one that closes, or the first that opens, reads the log anew.
      connection.db.exec('BEGIN IMMEDIATE');
      touchCatalog(connection.db);
      connection.db.exec('COMMIT');
      return true;
    } catch (error) {
      connection.rollback();
      // At the beginning of a log it may be the flush of the log's header that failed, before any page was written.
      if (isAfterWriting(error) && (connection.logLength()?.pages ?? 0) > 0) return true;
    }
  }
  return false;
}
