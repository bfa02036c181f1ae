/** The bound within which a process sees what another has changed: a second. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from './service.ts';

const SECOND = 1_000;

/**
 * Waits until a condition holds, which must be the case for a check that starts a second after the call; after that the result stands.
 * @param check asserts the condition; assertion errors count as not yet
 * @param boundMs replaces the second
 */
export async function soon(check: () => Promise<void>, boundMs = SECOND): Promise<void> {
  const since = performance.now();
  for (;;) {
    const startedAt = performance.now();
    try {
      await check();
      break;
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || startedAt - since >= boundMs) throw error;
    }
    await wait(20);
  }
  for (let again = 0; again < 5; again++) await check();
}

/** The effect of a command is visible to the service immediately, or soon if it is notified through PostgreSQL. */
export const afterCommand = ({ database }: Pick<Service, 'database'>, check: () => Promise<void>): Promise<void> =>
  database ? soon(check) : check();
