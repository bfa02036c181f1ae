import { setPriority } from 'node:os';

/** Lowers the priority of the calling thread below the event loop's, so that short requests do not wait for it. */
export function lowerPriority(): void {
  setPriority(10);
}
