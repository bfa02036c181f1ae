import { setTimeout as wait } from 'node:timers/promises';
import type { Filter } from '../query/filter.ts';
import { readRows } from '../records/index.ts';
import { fieldOf, type Schema, type TableSchema } from '../schema/model.ts';
import type { Store, WritePlan } from '../storage/port.ts';
import type { System } from '../systems/index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Records that one commit deletes: some milliseconds. */
const BATCH = 500;
/** Milliseconds between two of them, in which others have their turn. */
const PAUSE = 50;

/** What grows old: a table and the time by which a record of it does. */
interface Aging {
  readonly className: string;
  readonly field: 'createdAt' | 'expiresAt';
  /** Records with an earlier time are deleted, in milliseconds since 1970. */
  readonly before: number;
}

/**
 * Deletes what has grown old in the systems that are open: rows of the request log after so many days, and sessions that have expired.
 * A minute or two after a system was opened, then every hour.
 */
export class Retention {
  readonly #opened: () => Iterable<System>;
  readonly #days: number;
  readonly #reportFault: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  /** When a system is next looked at, on the clock that never goes back. */
  readonly #due = new WeakMap<System, number>();
  #running: Promise<void> | undefined;
  #closed = false;

  /**
   * @param opened the systems that are open, as of each step
   * @param days that rows of the request log are kept; 0: for ever
   */
  constructor(opened: () => Iterable<System>, days: number, reportFault: (error: unknown) => void) {
    this.#opened = opened;
    this.#days = days;
    this.#reportFault = reportFault;
    this.#timer = setInterval(() => this.#start(), MINUTE);
    this.#timer.unref();
  }

  #start(): void {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = undefined;
    });
  }

  async #sweep(): Promise<void> {
    for (const system of this.#opened()) {
      const now = performance.now();
      const due = this.#due.get(system);
      if (due === undefined) this.#due.set(system, now);
      if (due === undefined || now < due || this.#closed) continue;
      this.#due.set(system, now + HOUR);
      system.hold();
      try {
        // A little less than an hour: clocks of processes do not beat together.
        if (await system.store.claim('retention', HOUR - MINUTE))
          await deleteOld(system.store, this.#days, Date.now(), () => this.#closed);
      } catch (error) {
        this.#reportFault(error);
      } finally {
        system.release();
      }
    }
  }

  /** Ends after the batch that is under way. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closed = true;
    await this.#running;
  }
}

/**
 * Deletes what has grown old in one system, little by little.
 * @param days that rows of the request log are kept; 0: for ever
 * @param isEnough asked between two batches
 */
export async function deleteOld(store: Store, days: number, now: number, isEnough: () => boolean): Promise<void> {
  if (days > 0) await deleteBefore(store, { className: '_RequestLog', field: 'createdAt', before: now - days * DAY }, isEnough);
  await deleteBefore(store, { className: '_Session', field: 'expiresAt', before: now }, isEnough);
}

async function deleteBefore(store: Store, aging: Aging, isEnough: () => boolean): Promise<void> {
  while (!isEnough()) {
    const ids = await oldest(store, aging);
    if (ids.length > 0) await store.write({ plan: (schema) => planDeletion(schema, aging.className, ids) });
    if (ids.length < BATCH) return;
    await wait(PAUSE);
  }
}

/** Looked up by a read of its own, which leaves the event loop where it may be long; the deletion then goes by their ids. */
async function oldest(store: Store, { className, field: name, before }: Aging): Promise<string[]> {
  const rows = await readRows<{ objectId: string }>(store, {
    className,
    fields: ['objectId'],
    filter(table) {
      const field = table.fields.get(name);
      return field?.type === 'Date' ? { kind: 'compare', field, op: 'lt', value: before } : null;
    },
    orderBy: name,
    limit: BATCH,
  });
  return rows.map(({ objectId }) => objectId);
}

function planDeletion(schema: Schema, className: string, ids: readonly string[]): WritePlan {
  const table = schema.tables.get(className);
  return { changes: [], mutations: table ? [{ kind: 'deleteAll', table, filter: amongIds(table, ids) }] : [] };
}

function amongIds(table: TableSchema, values: readonly string[]): Filter {
  return { kind: 'in', field: fieldOf(table, 'objectId'), values };
}
