import { type Job, recordKey } from '../queue/index.ts';

/** Records whose jobs are done at the same time. */
const CONCURRENCY = 64;
/** Jobs of one record that are held; the rest stay in the queue until these are done, so that one record does not keep the others out. */
const MAX_JOBS_PER_RECORD = 50;

/** What is to happen with a record after one of its jobs. `held`: the others go back into the queue. */
export type Turn = 'next' | 'held';

/** Jobs that are held at the most, but for those of one read; and characters of their snapshots. */
const MAX_HELD_JOBS = 600;
const MAX_HELD_LENGTH = 16_000_000;

interface RecordJobs {
  readonly key: string;
  readonly jobs: Job[];
  /** Of the record; a schedule's own. */
  readonly objectId: string;
  /** Whether further jobs of the record were left in the queue. */
  isCut: boolean;
}

/** Jobs at work or about to be: those of one record one after the other, in the order in which they are added; of others side by side. */
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
   * @param events `left`: jobs are not held any more; `freed`: a record's jobs are done, `isCut` where more of them are in the queue
   */
  constructor(work: (job: Job) => Promise<Turn>, events: { left(ids: readonly string[]): void; freed(isCut: boolean): void }) {
    this.#work = work;
    this.#events = events;
  }

  /** Whether more jobs should be added, so that other records have their turn soon. */
  get isHungry(): boolean {
    return this.#ready.length < CONCURRENCY / 2 && this.#held < MAX_HELD_JOBS && this.#characters < MAX_HELD_LENGTH;
  }

  /** Records of which no job is taken until those that are held are done. */
  *full(): IterableIterator<string> {
    for (const { isCut, objectId } of this.#records.values()) if (isCut) yield objectId;
  }

  isFull(key: string): boolean {
    return this.#records.get(key)?.isCut === true;
  }

  /** @returns false where the record has enough jobs: no later one of it may be added until it was freed */
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

  /** Begins what may begin; to be called after jobs were added. */
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
      if (turn === 'held') entry.isCut = true;
      this.#events.left(left.map(({ id }) => id));
    }
    this.#records.delete(entry.key);
    this.#running--;
    this.#events.freed(entry.isCut);
    this.start();
  }

  /** Begins nothing more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Whether nothing is at work. */
  get isQuiet(): boolean {
    return this.#running === 0;
  }
}

const sizeOf = ({ snapshot }: Job): number => snapshot?.record.length ?? 0;
