import type { Store } from '../storage/port.ts';
import { queueTable } from './queue/index.ts';
import { readScheduled } from './schedule/definitions.ts';

/** Work that waits in a system while it is held. */
export interface HeldWork {
  /** Triggers with a schedule. */
  readonly schedules: number;
  /** Rows of the queue. */
  readonly jobs: number;
}

/** @throws unavailable, timeout */
export async function heldWork(store: Store): Promise<HeldWork> {
  const schedules = (await readScheduled(store)).filter(({ schedule }) => schedule !== null).length;
  const queue = store.schema().tables.get(queueTable);
  return { schedules, jobs: queue ? await store.raw.count(queue) : 0 };
}
