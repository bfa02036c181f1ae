import type { Filter } from '../../query/model/filter.ts';
import { fieldOf } from '../../schema/model.ts';
import type { Store } from '../../storage/port.ts';
import { isRetryable, type Job, jobOf, recordKey, type StoredSnapshot, snapshotOf, tooLarge } from './job.ts';
import { removeOrphanRows } from './orphan-rows.ts';
import { otherJobsBefore } from './other-process-jobs.ts';
import { type Bounds, type Listed, lengthOf, QueueReader } from './queue-reader.ts';
import { among, is, isDue } from './steps.ts';
import { type RetryableKind, retryableKinds } from './table.ts';

/** Rows of the head of the queue that are read unconditionally. Few enough to be read quickly on either engine. */
const HEAD_ROWS = 100;
/** Interval at which a long queue is scanned for retryable jobs. */
const RETRYABLE_RESCAN_MS = 500;
/** Rows of a filtered read beyond the head, which takes longer. */
const MAX_READ_ROWS = 200;
/** Target size of such a read in characters, since snapshots may be long. */
const READ_LENGTH = 4_000_000;
/** If fewer than this share of a full head can be started, the rest of the queue is read. */
const WORTHWHILE_SHARE = 0.2;

/** The jobs that a queue reader must skip. */
export interface ActiveJobs {
  /** Whether a job is loaded already. */
  isLoaded(id: string): boolean;
  readonly loaded: Iterable<string>;
  /** Whether the jobs of a record have to wait. @param key `recordKey` */
  isWaiting(key: string): boolean;
  /** The objectIds of these records. */
  readonly waiting: Iterable<string>;
  /** Number of further jobs of a kind that may be started. */
  retryableSlots(kind: RetryableKind): number;
}

/** Jobs that may be started. */
export interface Batch {
  /** In queue order. */
  readonly jobs: readonly Job[];
  /** Snapshots before the writes, by the ids of their rows. */
  readonly before: ReadonlyMap<string, StoredSnapshot>;
  /** Due `mail` and `code` jobs for which there is a free slot. */
  readonly retryable: readonly Job[];
  /** Whether more of them may be due for which there is no free slot. */
  readonly hasMoreRetryable: boolean;
  /** Records that have to wait for another process. */
  readonly blocked: ReadonlySet<string>;
  /** Whether the queue may contain more jobs to start, apart from retryable ones. */
  readonly hasMore: boolean;
  /** When the next retryable job is due, in milliseconds since 1970. */
  readonly nextDue: number | null;
}

/** The result of a search. The flags say whether the jobs include their contents; if not, these are read separately. */
type Found = Omit<Batch, 'before'> & { readonly haveContents: boolean; readonly haveRetryableContents: boolean };

const everything = (): Filter => ({ kind: 'always' });

/**
 * Reads the jobs of this process in queue order. Usually the queue is short, and its head, one quick read, is all of it. Otherwise filtered reads
 * find jobs that can be started.
 */
export class Backlog {
  readonly #store: Store;
  readonly #reader: QueueReader;
  #isFirst = true;
  /** Whether the last read beyond the head was full. */
  #isDeep = false;
  #size = MAX_READ_ROWS / 4;
  /** When a scan beyond the head last found no retryable jobs, on the monotonic clock. */
  #noRetryableAt = Number.NEGATIVE_INFINITY;

  /** @param bounds limits of reads; default: `defaultBounds` */
  constructor(store: Store, bounds?: Bounds) {
    this.#store = store;
    this.#reader = new QueueReader(store, bounds);
  }

  /**
   * @param now milliseconds since 1970
   * @param isShared whether other processes may have rows in the queue
   * @throws unavailable, timeout
   */
  async read(now: number, busy: ActiveJobs, isShared: () => Promise<boolean>): Promise<Batch> {
    await this.#store.whenCurrent();
    if (this.#isFirst) await this.#clean(now);
    const found = (this.#isDeep ? null : await this.#head(now, busy)) ?? (await this.#beyond(now, busy, isShared));
    return this.#withBefore(await this.#withContents(found));
  }

  /** Best effort: orphan rows that remain are removed another time. */
  async #clean(now: number): Promise<void> {
    this.#isFirst = false;
    await removeOrphanRows(this.#store, now).catch(() => 0);
  }

  /** Returns jobs of the head of the queue; `null` if the head is full of jobs that cannot be started. */
  async #head(now: number, busy: ActiveJobs): Promise<Found | null> {
    const limit = Math.min(HEAD_ROWS, this.#size);
    const { rows, haveContents } = await this.#reader.list(everything, limit);
    const isAll = rows.length < limit;
    this.#size = sizeAfter({ rows, haveContents });
    const [foreign, blocked] = [new Set<string>(), new Set<string>()];
    const jobs: Job[] = [];
    const retryable: Job[] = [];
    let nextDue: number | null = null;
    for (const row of rows) {
      if (row.kind === 'before') continue;
      const job = jobOf(row);
      const key = recordKey(job);
      if (isRetryable(job)) {
        if (job.owner !== this.#store.cluster.processId || busy.isLoaded(job.id)) continue;
        if (job.dueAt === null || job.dueAt <= now || job.recordedAt > now) retryable.push(job);
        else nextDue = Math.min(nextDue ?? job.dueAt, job.dueAt);
      } else if (job.owner !== this.#store.cluster.processId) foreign.add(key);
      else if (busy.isLoaded(job.id) || busy.isWaiting(key)) continue;
      else if (foreign.has(key)) blocked.add(key);
      else jobs.push(job);
    }
    if (!isAll && jobs.length < WORTHWHILE_SHARE * limit) return null;
    retryable.sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0));
    const begun = retryableKinds.flatMap((kind) =>
      retryable.filter((job) => job.kind === kind).slice(0, busy.retryableSlots(kind)),
    );
    const hasMoreRetryable = begun.length < retryable.length;
    return {
      jobs,
      retryable: begun,
      hasMoreRetryable,
      blocked,
      hasMore: !isAll,
      nextDue,
      haveContents,
      haveRetryableContents: haveContents,
    };
  }

  async #beyond(now: number, busy: ActiveJobs, isShared: () => Promise<boolean>): Promise<Found> {
    const [loaded, waiting] = [[...busy.loaded], [...busy.waiting]];
    const { rows, haveContents } = await this.#reader.list(
      (table) => ({
        kind: 'and',
        items: [
          among(table, 'kind', ['write', 'schedule']),
          is(table, 'owner', this.#store.cluster.processId),
          ...unless(loaded.length > 0, () => among(table, 'objectId', loaded)),
          ...unless(waiting.length > 0, () => among(table, 'objectIdValue', waiting)),
        ],
      }),
      this.#size,
    );
    this.#isDeep = rows.length === this.#size;
    this.#size = sizeAfter({ rows, haveContents });
    const found = rows.map(jobOf).filter((job) => !busy.isLoaded(job.id) && !busy.isWaiting(recordKey(job)));
    const { foreign, blocked } = (await isShared())
      ? await otherJobsBefore(this.#store, found)
      : { foreign: new Set<string>(), blocked: new Set<string>() };
    const { retryable, nextDue } = await this.#scanRetryable(now, busy, loaded);
    return {
      jobs: found.filter(({ id }) => !foreign.has(id)),
      retryable,
      hasMoreRetryable: retryableKinds.some(
        (kind) => retryable.filter((job) => job.kind === kind).length >= busy.retryableSlots(kind),
      ),
      blocked,
      hasMore: this.#isDeep,
      nextDue,
      haveContents,
      haveRetryableContents: false,
    };
  }

  /** Finds retryable jobs in the whole queue. The scan is slow, so after an empty result the next one waits. */
  async #scanRetryable(now: number, busy: ActiveJobs, loaded: readonly string[]): Promise<Pick<Found, 'retryable' | 'nextDue'>> {
    const again = this.#noRetryableAt + RETRYABLE_RESCAN_MS - performance.now();
    if (again > 0) return { retryable: [], nextDue: now + again };
    const retryable = (await Promise.all(retryableKinds.map((kind) => this.#retryable(kind, now, busy, loaded)))).flat();
    const nextDue = await this.#nextDue(now);
    if (retryable.length === 0) this.#noRetryableAt = performance.now();
    return { retryable, nextDue };
  }

  /**
   * Each kind has its own slots, because what one kind needs may be unavailable. The longest overdue job comes first, so that all are tried in turn.
   */
  async #retryable(kind: RetryableKind, now: number, busy: ActiveJobs, loaded: readonly string[]): Promise<Job[]> {
    const slots = busy.retryableSlots(kind);
    if (slots === 0) return [];
    const rows = await this.#reader.keys(
      (table) => {
        return {
          kind: 'and',
          items: [
            is(table, 'kind', kind),
            is(table, 'owner', this.#store.cluster.processId),
            isDue(table, now),
            ...unless(loaded.length > 0, () => among(table, 'objectId', loaded)),
          ],
        };
      },
      slots,
      'dueAt',
    );
    return rows.map(jobOf).filter(({ id }) => !busy.isLoaded(id));
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

  /** Adds the contents. Jobs whose contents exceed the limits wait for a later read. */
  async #withContents(found: Found): Promise<Omit<Batch, 'before'>> {
    let { jobs, retryable, hasMore, hasMoreRetryable } = found;
    if (!found.haveContents) {
      jobs = await this.#withRowContents(jobs);
      hasMore ||= jobs.length < found.jobs.length;
    }
    if (!found.haveRetryableContents) {
      retryable = await this.#withRowContents(retryable);
      hasMoreRetryable ||= retryable.length < found.retryable.length;
    }
    return { ...found, jobs, retryable, hasMore, hasMoreRetryable };
  }

  /** Returns the first of the jobs with their contents, without those that are gone or owned by another process now. */
  async #withRowContents(jobs: readonly Job[]): Promise<Job[]> {
    const { rows, upTo } = await this.#reader.contents(jobs.map(({ id }) => id));
    return jobs.slice(0, upTo).flatMap((job) => {
      const row = rows.get(job.id);
      if (row === null) return [{ ...job, snapshot: tooLarge }];
      return row?.owner === job.owner ? [jobOf(row)] : [];
    });
  }

  /** Adds the snapshots before the writes. At the first snapshot that exceeds the limits, its job and all later ones wait for a later read. */
  async #withBefore(batch: Omit<Batch, 'before'>): Promise<Batch> {
    const named = batch.jobs.flatMap(({ beforeId }, at) => (beforeId === null ? [] : [{ beforeId, at }]));
    const { rows, upTo } = await this.#reader.contents(named.map(({ beforeId }) => beforeId));
    const before = new Map<string, StoredSnapshot>();
    for (const [id, row] of rows) {
      const snapshot = row === null ? tooLarge : snapshotOf(row);
      if (snapshot) before.set(id, snapshot);
    }
    const end = named[upTo]?.at;
    return end === undefined ? { ...batch, before } : { ...batch, before, jobs: batch.jobs.slice(0, end), hasMore: true };
  }
}

const unless = (isAsked: boolean, item: () => Filter): Filter[] => (isAsked ? [{ kind: 'not', item: item() }] : []);

/** Returns the number of rows for the next read, by the size of the present ones. */
function sizeAfter({ rows, haveContents }: Listed): number {
  if (rows.length === 0) return MAX_READ_ROWS / 4;
  if (!haveContents) return MAX_READ_ROWS;
  return Math.max(4, Math.min(MAX_READ_ROWS, Math.floor((READ_LENGTH * rows.length) / (lengthOf(rows) + 1))));
}
