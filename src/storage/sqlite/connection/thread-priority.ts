import { setPriority } from 'node:os';

/** Lets the calling thread yield the processor to the event loop, whose short answers should not wait for it. */
export function lowerPriority(): void {
  setPriority(10);
}
