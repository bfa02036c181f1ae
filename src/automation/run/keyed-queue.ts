import { type Job, recordKey } from '../queue/index.ts';

/** Records whose jobs run concurrently. */
const CONCURRENCY = 64;
/** Jobs of one record that are loaded at a time. The rest stay in the queue, so that one record does not keep others out. */
const MAX_JOBS_PER_RECORD = 50;

/** What follows a job: the next job of its record, or all of the record's jobs return to the queue. */
export type Turn = 'next' | 'requeue';

/** Limits for loaded jobs, which one read may exceed, and for the characters of their snapshots. */
const MAX_HELD_JOBS = 600;
const MAX_HELD_LENGTH = 16_000_000;

interface RecordJobs {
  readonly key: string;
  readonly jobs: Job[];
  /** Of the record; for a schedule, the trigger's. */
  readonly objectId: string;
  /** Whether further jobs of the record remain in the queue. */
  isCut: boolean;
}

/** Runs jobs: those of one record serially, in the order of adding; those of different records concurrently. */
export class KeyedQueue {
  readonly #work: (job: Job) => Promise<Turn>;
  readonly #events: { left(ids: readonly string[]): void; freed(isCut: boolean): void };
  readonly #records = new Map<string, RecordJobs>();
  #ready: RecordJobs[] = [];
  #running = 0;
  #held = 0;
  #characters = 0;
  #isStopped = false;

  /**
   * @param work never rejects
   * @param events `left`: jobs are no longer loaded; `freed`: all loaded jobs of a record are done, `isCut` if more of them are in the queue
   */
  constructor(work: (job: Job) => Promise<Turn>, events: { left(ids: readonly string[]): void; freed(isCut: boolean): void }) {
    this.#work = work;
    this.#events = events;
  }

  /** Whether to load more jobs. */
  get isHungry(): boolean {
    return this.#ready.length < CONCURRENCY / 2 && this.#held < MAX_HELD_JOBS && this.#characters < MAX_HELD_LENGTH;
  }

  /** Records of which no further job may be loaded until the loaded ones are done. */
  *full(): IterableIterator<string> {
    for (const { isCut, objectId } of this.#records.values()) if (isCut) yield objectId;
  }

  isFull(key: string): boolean {
    return this.#records.get(key)?.isCut === true;
  }

  /** @returns false if the record has enough jobs: no later one may be added until `freed` */
  add(job: Job): boolean {
    const key = recordKey(job);
    const entry = this.#records.get(key) ?? this.#open(key, job.objectId);
    if (entry.isCut || entry.jobs.length >= MAX_JOBS_PER_RECORD) {
      entry.isCut = true;
      return false;
    }
    entry.jobs.push(job);
    this.#held++;
    this.#characters += sizeOf(job);
    return true;
  }

  /** Starts what can be started. Call it after adding jobs. */
  start(): void {
    while (!this.#isStopped && this.#running < CONCURRENCY) {
      const entry = this.#ready.shift();
      if (!entry) return;
      this.#running++;
      void this.#run(entry);
    }
  }

  #open(key: string, objectId: string): RecordJobs {
    const entry = { key, jobs: [], objectId, isCut: false };
    this.#records.set(key, entry);
    this.#ready.push(entry);
    return entry;
  }

  async #run(entry: RecordJobs): Promise<void> {
    for (let job = entry.jobs[0]; job && !this.#isStopped; job = entry.jobs[0]) {
      const turn = await this.#work(job);
      const left = entry.jobs.splice(0, turn === 'next' ? 1 : entry.jobs.length);
      this.#held -= left.length;
      for (const one of left) this.#characters -= sizeOf(one);
      if (turn === 'requeue') entry.isCut = true;
      this.#events.left(left.map(({ id }) => id));
    }
    this.#records.delete(entry.key);
    this.#running--;
    this.#events.freed(entry.isCut);
    this.start();
  }

  /** Starts no further jobs. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Whether no job is running. */
  get isIdle(): boolean {
    return this.#running === 0;
  }
}

const sizeOf = ({ snapshot }: Job): number => snapshot?.record.length ?? 0;
