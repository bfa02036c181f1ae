import type { Filter } from '../../query/model/filter.ts';
import { fieldOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { isRetryable, type Job, jobOf, recordKey, type StoredSnapshot, snapshotOf, tooLarge } from './job.ts';
import { removeOrphanRows } from './orphan-rows.ts';
import { otherJobsBefore } from './other-process-jobs.ts';
import { type Bounds, type Listed, lengthOf, QueueReader } from './queue-reader.ts';
import { among, is, isDue } from './steps.ts';
import { type RetryableKind, retryableKinds } from './table.ts';

/** Rows of the beginning of the queue that are read without a condition: so few are read at once on either engine. */
const HEAD_ROWS = 100;
/** Milliseconds until a long queue is looked through for later jobs again. */
const LATER_RESCAN_MS = 500;
/** Rows of a read that knows what it looks for, and which takes its time. */
const MAX_READ_ROWS = 200;
/** Characters that such a read should bring: snapshots may be long. */
const READ_LENGTH = 4_000_000;
/** A smaller part than this of a beginning that is full, and the rest of the queue is looked at. */
const WORTHWHILE_SHARE = 0.2;

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
  laterRoom(kind: RetryableKind): number;
}

/** Jobs that may be begun. */
export interface Batch {
  /** In the order of the queue. */
  readonly jobs: readonly Job[];
  /** The snapshots before their writes, by the ids of their rows. */
  readonly before: ReadonlyMap<string, StoredSnapshot>;
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

/** What a look found; `areWhole`, `isLaterWhole`: with the contents of the rows, which are still to be read else. */
type Found = Omit<Batch, 'before'> & { readonly areWhole: boolean; readonly isLaterWhole: boolean };

const everything = (): Filter => ({ kind: 'always' });

/**
 * Reads the jobs of this process in the order of the queue. Mostly the queue is short, and its beginning is all of it: one quick read.
 * Where it is not, reads look for what can be begun.
 */
export class Backlog {
  readonly #store: Store;
  readonly #reader: QueueReader;
  #isFirst = true;
  /** Whether the last look beyond the beginning found as much as it could. */
  #isDeep = false;
  #size = MAX_READ_ROWS / 4;
  /** When a look beyond the beginning found no later jobs, on the clock that never goes back. */
  #noneAt = Number.NEGATIVE_INFINITY;

  /** @param bounds the usual ones where they are left out */
  constructor(store: Store, bounds?: Bounds) {
    this.#store = store;
    this.#reader = new QueueReader(store, bounds);
  }

  /**
   * @param now milliseconds since 1970
   * @param isShared whether other processes may have rows in the queue
   * @throws unavailable, timeout
   */
  async read(now: number, busy: Busy, isShared: () => Promise<boolean>): Promise<Batch> {
    await this.#store.whenCurrent();
    if (this.#isFirst) await this.#clean(now);
    const found = (this.#isDeep ? null : await this.#head(now, busy)) ?? (await this.#beyond(now, busy, isShared));
    return this.#withBefore(await this.#withContents(found));
  }

  /** What is left over waits for another time if need be. */
  async #clean(now: number): Promise<void> {
    this.#isFirst = false;
    await removeOrphanRows(this.#store, now).catch(() => 0);
  }

  /** The jobs of the beginning of the queue; `null` where it is full of what cannot be begun. */
  async #head(now: number, busy: Busy): Promise<Found | null> {
    const limit = Math.min(HEAD_ROWS, this.#size);
    const { rows, areWhole } = await this.#reader.list(everything, limit);
    const isAll = rows.length < limit;
    this.#size = sizeAfter({ rows, areWhole });
    const [foreign, blocked] = [new Set<string>(), new Set<string>()];
    const jobs: Job[] = [];
    const later: Job[] = [];
    let nextDue: number | null = null;
    for (const row of rows) {
      if (row.kind === 'before') continue;
      const job = jobOf(row);
      const key = recordKey(job);
      if (isRetryable(job)) {
        if (job.owner !== this.#store.cluster.processId || busy.isHeld(job.id)) continue;
        if (job.dueAt === null || job.dueAt <= now || job.notedAt > now) later.push(job);
        else nextDue = Math.min(nextDue ?? job.dueAt, job.dueAt);
      } else if (job.owner !== this.#store.cluster.processId) foreign.add(key);
      else if (busy.isHeld(job.id) || busy.isWaiting(key)) continue;
      else if (foreign.has(key)) blocked.add(key);
      else jobs.push(job);
    }
    if (!isAll && jobs.length < WORTHWHILE_SHARE * limit) return null;
    later.sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0));
    const begun = retryableKinds.flatMap((kind) => later.filter((job) => job.kind === kind).slice(0, busy.laterRoom(kind)));
    const isLaterLeft = begun.length < later.length;
    return { jobs, later: begun, isLaterLeft, blocked, isMore: !isAll, nextDue, areWhole, isLaterWhole: areWhole };
  }

  async #beyond(now: number, busy: Busy, isShared: () => Promise<boolean>): Promise<Found> {
    const [held, waiting] = [[...busy.held], [...busy.waiting]];
    const { rows, areWhole } = await this.#reader.list(
      (table) => ({
        kind: 'and',
        items: [
          among(table, 'kind', ['write', 'schedule']),
          is(table, 'owner', this.#store.cluster.processId),
          ...unless(held.length > 0, () => among(table, 'objectId', held)),
          ...unless(waiting.length > 0, () => among(table, 'objectIdValue', waiting)),
        ],
      }),
      this.#size,
    );
    this.#isDeep = rows.length === this.#size;
    this.#size = sizeAfter({ rows, areWhole });
    const found = rows.map(jobOf).filter((job) => !busy.isHeld(job.id) && !busy.isWaiting(recordKey(job)));
    const { foreign, blocked } = (await isShared())
      ? await otherJobsBefore(this.#store, found)
      : { foreign: new Set<string>(), blocked: new Set<string>() };
    const { later, nextDue } = await this.#dueAmongAll(now, busy, held);
    return {
      jobs: found.filter(({ id }) => !foreign.has(id)),
      later,
      isLaterLeft: retryableKinds.some((kind) => later.filter((job) => job.kind === kind).length >= busy.laterRoom(kind)),
      blocked,
      isMore: this.#isDeep,
      nextDue,
      areWhole,
      isLaterWhole: false,
    };
  }

  /** A look for later jobs passes over all of a long queue: where the last one found none, the next has to wait. */
  async #dueAmongAll(now: number, busy: Busy, held: readonly string[]): Promise<Pick<Found, 'later' | 'nextDue'>> {
    const again = this.#noneAt + LATER_RESCAN_MS - performance.now();
    if (again > 0) return { later: [], nextDue: now + again };
    const later = (await Promise.all(retryableKinds.map((kind) => this.#later(kind, now, busy, held)))).flat();
    const nextDue = await this.#nextDue(now);
    if (later.length === 0) this.#noneAt = performance.now();
    return { later, nextDue };
  }

  /** Each kind has room of its own: what one of them needs may be away. What waits for longest is first: all are tried in turns. */
  async #later(kind: RetryableKind, now: number, busy: Busy, held: readonly string[]): Promise<Job[]> {
    const room = busy.laterRoom(kind);
    if (room === 0) return [];
    const rows = await this.#reader.keys(
      (table) => {
        return {
          kind: 'and',
          items: [
            is(table, 'kind', kind),
            is(table, 'owner', this.#store.cluster.processId),
            isDue(table, now),
            ...unless(held.length > 0, () => among(table, 'objectId', held)),
          ],
        };
      },
      room,
      'dueAt',
    );
    return rows.map(jobOf).filter(({ id }) => !busy.isHeld(id));
  }

  async #nextDue(now: number): Promise<number | null> {
    const [first] = await this.#reader.keys(
      (table) => ({
        kind: 'and',
        items: [
          is(table, 'owner', this.#store.cluster.processId),
          { kind: 'compare', field: fieldOf(table, 'dueAt'), op: 'gt', value: now },
        ],
      }),
      1,
      'dueAt',
    );
    return first ? jobOf(first).dueAt : null;
  }

  /** Jobs whose contents are too much for now wait. */
  async #withContents(found: Found): Promise<Omit<Batch, 'before'>> {
    let { jobs, later, isMore, isLaterLeft } = found;
    if (!found.areWhole) {
      jobs = await this.#whole(jobs);
      isMore ||= jobs.length < found.jobs.length;
    }
    if (!found.isLaterWhole) {
      later = await this.#whole(later);
      isLaterLeft ||= later.length < found.later.length;
    }
    return { ...found, jobs, later, isMore, isLaterLeft };
  }

  /** Jobs with their contents: the first of these that are still there and this process's. */
  async #whole(jobs: readonly Job[]): Promise<Job[]> {
    const { rows, upTo } = await this.#reader.contents(jobs.map(({ id }) => id));
    return jobs.slice(0, upTo).flatMap((job) => {
      const row = rows.get(job.id);
      if (row === null) return [{ ...job, snapshot: tooLarge }];
      return row?.owner === job.owner ? [jobOf(row)] : [];
    });
  }

  /** Adds the snapshots before the writes of the jobs. Those whose snapshot is too much for now wait, and all that follow. */
  async #withBefore(batch: Omit<Batch, 'before'>): Promise<Batch> {
    const named = batch.jobs.flatMap(({ beforeId }, at) => (beforeId === null ? [] : [{ beforeId, at }]));
    const { rows, upTo } = await this.#reader.contents(named.map(({ beforeId }) => beforeId));
    const before = new Map<string, StoredSnapshot>();
    for (const [id, row] of rows) {
      const snapshot = row === null ? tooLarge : snapshotOf(row);
      if (snapshot) before.set(id, snapshot);
    }
    const end = named[upTo]?.at;
    return end === undefined ? { ...batch, before } : { ...batch, before, jobs: batch.jobs.slice(0, end), isMore: true };
  }
}

const unless = (isAsked: boolean, item: () => Filter): Filter[] => (isAsked ? [{ kind: 'not', item: item() }] : []);

/** How many rows the next read takes, by what these were like. */
function sizeAfter({ rows, areWhole }: Listed): number {
  if (rows.length === 0) return MAX_READ_ROWS / 4;
  if (!areWhole) return MAX_READ_ROWS;
  return Math.max(4, Math.min(MAX_READ_ROWS, Math.floor((READ_LENGTH * rows.length) / (lengthOf(rows) + 1))));
}
