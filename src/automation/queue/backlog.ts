import type { Filter } from '../../query/filter.ts';
import { readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { fieldOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { foreignBefore } from './foreign.ts';
import { isLater, type Job, jobOf, pictureOf, type QueueRow, recordKey, type StoredPicture } from './job.ts';
import { among, is } from './steps.ts';
import { type LaterKind, laterKinds, queueFields, queueTable } from './table.ts';

/** Rows of the beginning of the queue that are read without a condition: so few are read at once on either engine. */
const HEAD = 100;
/** Rows of a read that knows what it looks for, and which takes its time. */
const DEEP = 200;
/** Characters that such a read should bring: pictures may be long. */
const CHARACTERS = 4_000_000;
/** A smaller part than this of a beginning that is full, and the rest of the queue is looked at. */
const WORTHWHILE = 0.2;

/** What a reader of the queue is told of what is at work. */
export interface Busy {
  /** Jobs that are read already. */
  isHeld(id: string): boolean;
  readonly held: Iterable<string>;
  /** Whether the jobs of a record have to wait. @param key `recordKey` */
  isWaiting(key: string): boolean;
  /** The objectIds of such records. */
  readonly waiting: Iterable<string>;
  /** How many later jobs of a kind may be added. */
  laterRoom(kind: LaterKind): number;
}

/** Jobs that may be begun. */
export interface Batch {
  /** In the order of the queue. */
  readonly jobs: readonly Job[];
  /** `mail` and `code` that are due, and that there is room for. */
  readonly later: readonly Job[];
  /** Whether there may be others that are due, and that there was no room for. */
  readonly isLaterLeft: boolean;
  /** Records that have to wait for another process. */
  readonly blocked: ReadonlySet<string>;
  /** Whether the queue may have more that could be begun, `later` aside. */
  readonly isMore: boolean;
  /** When the first of the later jobs that are not due is, in milliseconds since 1970. */
  readonly nextDue: number | null;
}

const fields = ['objectId', 'createdAt', ...queueFields];
const everything = (): Filter => ({ kind: 'always' });

/**
 * Reads the jobs of this process in the order of the queue. Mostly the queue is short, and its beginning is all of it: one quick read.
 * Where it is not, reads look for what can be begun.
 */
export class Backlog {
  readonly #store: Store;
  /** Whether the last look beyond the beginning found as much as it could. */
  #isDeep = false;
  #size = DEEP / 4;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @param now milliseconds since 1970
   * @param isShared whether other processes may have rows in the queue
   * @throws unavailable, timeout
   */
  async read(now: number, busy: Busy, isShared: () => Promise<boolean>): Promise<Batch> {
    await this.#store.whenCurrent();
    if (!this.#isDeep) {
      const batch = await this.#head(now, busy);
      if (batch) return batch;
    }
    return this.#beyond(now, busy, isShared);
  }

  /** The jobs of the beginning of the queue; `null` where it is full of what cannot be begun. */
  async #head(now: number, busy: Busy): Promise<Batch | null> {
    const limit = Math.min(HEAD, this.#size);
    const rows = await this.#rows(everything, limit);
    const isAll = rows.length < limit;
    this.#size = sizeAfter(rows);
    const [foreign, blocked] = [new Set<string>(), new Set<string>()];
    const jobs: Job[] = [];
    const later: Job[] = [];
    let nextDue: number | null = null;
    for (const row of rows) {
      if (row.kind === 'before') continue;
      const job = jobOf(row);
      const key = recordKey(job);
      if (isLater(job)) {
        if (job.owner !== this.#store.processId || busy.isHeld(job.id)) continue;
        if (job.dueAt === null || job.dueAt <= now) later.push(job);
        else nextDue = Math.min(nextDue ?? job.dueAt, job.dueAt);
      } else if (job.owner !== this.#store.processId) foreign.add(key);
      else if (busy.isHeld(job.id) || busy.isWaiting(key)) continue;
      else if (foreign.has(key)) blocked.add(key);
      else jobs.push(job);
    }
    if (!isAll && jobs.length < WORTHWHILE * limit) return null;
    const begun = laterKinds.flatMap((kind) => later.filter((job) => job.kind === kind).slice(0, busy.laterRoom(kind)));
    return { jobs, later: begun, isLaterLeft: begun.length < later.length, blocked, isMore: !isAll, nextDue };
  }

  async #beyond(now: number, busy: Busy, isShared: () => Promise<boolean>): Promise<Batch> {
    const [held, waiting] = [[...busy.held], [...busy.waiting]];
    const rows = await this.#rows(
      (table) => ({
        kind: 'and',
        items: [
          among(table, 'kind', ['write', 'schedule']),
          is(table, 'owner', this.#store.processId),
          ...unless(held.length > 0, () => among(table, 'objectId', held)),
          ...unless(waiting.length > 0, () => among(table, 'objectIdValue', waiting)),
        ],
      }),
      this.#size,
    );
    this.#isDeep = rows.length === this.#size;
    this.#size = sizeAfter(rows);
    const found = rows.map(jobOf).filter((job) => !busy.isHeld(job.id) && !busy.isWaiting(recordKey(job)));
    const { foreign, blocked } = (await isShared())
      ? await foreignBefore(this.#store, found)
      : { foreign: new Set<string>(), blocked: new Set<string>() };
    const later = (await Promise.all(laterKinds.map((kind) => this.#later(kind, now, busy, held)))).flat();
    return {
      jobs: found.filter(({ id }) => !foreign.has(id)),
      later,
      isLaterLeft: laterKinds.some((kind) => later.filter((job) => job.kind === kind).length >= busy.laterRoom(kind)),
      blocked,
      isMore: this.#isDeep,
      nextDue: await this.#nextDue(now),
    };
  }

  /** Each kind has room of its own: what one of them needs may be away. */
  async #later(kind: LaterKind, now: number, busy: Busy, held: readonly string[]): Promise<Job[]> {
    const room = busy.laterRoom(kind);
    if (room === 0) return [];
    const rows = await this.#rows((table) => {
      const dueAt = fieldOf(table, 'dueAt');
      return {
        kind: 'and',
        items: [
          is(table, 'kind', kind),
          is(table, 'owner', this.#store.processId),
          { kind: 'not', item: { kind: 'compare', field: dueAt, op: 'gt', value: now } },
          ...unless(held.length > 0, () => among(table, 'objectId', held)),
        ],
      };
    }, room);
    return rows.map(jobOf).filter(({ id }) => !busy.isHeld(id));
  }

  async #nextDue(now: number): Promise<number | null> {
    const [first] = await this.#rows(
      (table) => ({
        kind: 'and',
        items: [
          is(table, 'owner', this.#store.processId),
          { kind: 'compare', field: fieldOf(table, 'dueAt'), op: 'gt', value: now },
        ],
      }),
      1,
      'dueAt',
    );
    return first ? jobOf(first).dueAt : null;
  }

  #rows(filter: (table: TableSchema) => Filter, limit: number, orderBy?: string): Promise<QueueRow[]> {
    const query = { className: queueTable, fields, filter, limit };
    return readRows<QueueRow>(this.#store, orderBy === undefined ? query : { ...query, orderBy });
  }

  /** The pictures before the writes of some jobs, by the ids of their rows. @throws unavailable, timeout */
  async before(jobs: readonly Job[]): Promise<ReadonlyMap<string, StoredPicture>> {
    const ids = jobs.map(({ beforeId }) => beforeId).filter((id) => id !== null);
    if (ids.length === 0) return new Map();
    const query = { className: queueTable, fields: ['objectId', 'createdAt', 'fields', 'record'] };
    const rows = await readRows<QueueRow>(this.#store, { ...query, filter: (table) => among(table, 'objectId', ids) });
    return new Map(
      rows.flatMap((row) => [pictureOf(row)].filter((one) => one !== null).map((one) => [row.objectId, one] as const)),
    );
  }
}

const unless = (isAsked: boolean, item: () => Filter): Filter[] => (isAsked ? [{ kind: 'not', item: item() }] : []);

/** How many rows the next read takes, by what these were like. */
function sizeAfter(rows: readonly QueueRow[]): number {
  if (rows.length === 0) return DEEP / 4;
  const characters = rows.reduce((sum, { record = '', state = '' }) => sum + record.length + state.length, 0);
  return Math.max(4, Math.min(DEEP, Math.floor((CHARACTERS * rows.length) / (characters + 1))));
}
