/** The bound within which a process knows what another has changed: a second. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from './service.ts';

const SECOND = 1_000;

/**
 * Waits until something is seen, which has to be when it is asked for a second after now; then it stays.
 * @param seen what is asked; errors of assertions count as not yet
 * @param boundMs in place of the second
 */
export async function soon(seen: () => Promise<void>, boundMs = SECOND): Promise<void> {
  const since = performance.now();
  for (;;) {
    const asked = performance.now();
    try {
      await seen();
      break;
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || asked - since >= boundMs) throw error;
    }
    await wait(20);
  }
  for (let again = 0; again < 5; again++) await seen();
}

/** What a command has changed is known to the service at once, or soon where it is told by way of PostgreSQL. */
export const afterCommand = ({ database }: Pick<Service, 'database'>, seen: () => Promise<void>): Promise<void> =>
  database ? soon(seen) : seen();
