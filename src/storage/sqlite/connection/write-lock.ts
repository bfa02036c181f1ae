import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { busyError, isBusy } from './map-error.ts';

/** Maximum delay between two attempts. */
const MAX_RETRY_DELAY_MS = 20;

/**
 * Begins a write transaction on a connection that does not wait for locks itself, so that the event loop stays free while another process writes.
 * @param withinMs maximum wait in milliseconds
 * @throws unavailable if another process holds the write lock for longer; SQLite's error
 */
export async function beginWriting(db: DatabaseSync, withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (let delayMs = 1; ; delayMs = Math.min(MAX_RETRY_DELAY_MS, 2 * delayMs)) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() > until) throw busyError();
    }
    await wait(delayMs * (0.5 + Math.random()));
  }
}
