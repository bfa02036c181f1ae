import { executionAsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';

const keptAlive: object[] = [];

/**
 * Tunes V8 for a process that answers requests (adr/0023).
 *
 * - Disables allocation-site pretenuring. After a large batch, V8 allocates objects of the same sites directly in the old generation, also those of
 * short
 *   requests, which then keep their texts alive until the next full collection.
 * - Keeps one object of `process.nextTick` alive. A full collection drops the hidden class of objects without live instances; the compiled
 * `nextTick`,
 *   called some ten times per request, would then create every object the slow way.
 */
export function tuneForRequests(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  process.nextTick(() => keptAlive.push(executionAsyncResource()));
}
