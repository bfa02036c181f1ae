import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { busyError, isBusy } from './map-error.ts';

/** Milliseconds between two tries. */
const MAX_PAUSE_MS = 20;

/**
 * Begins a transaction that writes, on a connection that waits for no lock itself: the event loop is free while another process writes.
 * @param within milliseconds
 * @throws unavailable where another process holds the write lock for longer; what SQLite says
 */
export async function beginWriting(db: DatabaseSync, within: number): Promise<void> {
  const until = performance.now() + within;
  for (let pause = 1; ; pause = Math.min(MAX_PAUSE_MS, 2 * pause)) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) throw busyError();
    }
    await wait(pause * (0.5 + Math.random()));
  }
}
