import { executionAsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';

const keptAlive: object[] = [];

/**
 * Sets V8 up for a process that answers requests (adr/0023).
 *
 * - Allocation-site pretenuring is off. After a large batch V8 puts objects of the same places straight into the old generation: those of each
 *   short request too, which then keep its texts alive until the next full collection.
 * - One object of `process.nextTick` stays alive. A full collection drops the hidden class of objects of which none is alive, and the compiled
 *   `nextTick`, which each request calls some ten times, makes every object in the slow way from then on.
 */
export function tuneForRequests(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  process.nextTick(() => keptAlive.push(executionAsyncResource()));
}
