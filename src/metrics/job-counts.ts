import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PendingQueue, pendingQueue } from '../automation/index.ts';
import { isPassing } from '../errors/fail.ts';
import type { SearchPart, System, Systems } from '../systems/index.ts';
import { MAX_JOBS, pendingImports } from '../transfer/index.ts';

/** Systems that are counted in one turn of the event loop. */
const SYSTEMS_PER_TURN = 5;
/** Closed systems that are opened for one count. The others keep their counts and have their turn later. */
const MAX_VISITS = 10;

/** The jobs of all systems that this process has to do. */
export interface JobTotals {
  /** By kind and state. */
  readonly counts: readonly (readonly [kind: string, state: string, count: number])[];
  /** As in `PendingQueue`. */
  readonly oldest: number | null;
}

/** The jobs of one system. */
interface Counted extends PendingQueue {
  readonly imports: { readonly waiting: number; readonly running: number };
}

/**
 * Counts jobs without opening systems that have none: those that are open, those that had jobs when they were closed, and those in which the search of
 * all systems found any work.
 */
export class JobCounts {
  /** Part of that search. */
  readonly searched: SearchPart = {
    rows: [],
    // Not counted now: jobs that another process left are being taken over.
    visit: async ({ appId }) => void this.#counted.set(appId, this.#counted.get(appId) ?? null),
  };
  readonly #systems: Systems;
  /** `null`: not counted yet. The system that was counted longest ago comes first. */
  readonly #counted = new Map<string, Counted | null>();

  constructor(systems: Systems) {
    this.#systems = systems;
  }

  /** @throws unavailable */
  async read(): Promise<JobTotals> {
    const known = new Set(await this.#systems.appIds());
    for (const appId of this.#counted.keys()) if (!known.has(appId)) this.#counted.delete(appId);
    const open = new Set<string>();
    for (const system of this.#systems.opened()) {
      open.add(system.appId);
      if (open.size % SYSTEMS_PER_TURN === 0) await nextTurn();
      if (!system.isClosing) await this.#count(system);
    }
    const closed = [...this.#counted.keys()].filter((appId) => !open.has(appId));
    for (const appId of closed.slice(0, MAX_VISITS))
      await this.#systems.visit(appId, (system) => this.#count(system)).catch(ignorePassing);
    return totalsOf(this.#counted.values());
  }

  /** A system that cannot be read now keeps its counts. */
  async #count(system: System): Promise<void> {
    const { appId, store } = system;
    // Counting is no use of the system: otherwise it would stay open.
    system.hold(false);
    try {
      const [queue, imports] = await Promise.all([pendingQueue(store, Date.now()), pendingImports(store, MAX_JOBS)]);
      this.#counted.delete(appId);
      const has = imports.waiting + imports.running > 0 || queue.jobs.some(({ waiting, delayed }) => waiting + delayed > 0);
      if (has) this.#counted.set(appId, { ...queue, imports });
    } catch (error) {
      ignorePassing(error);
    } finally {
      system.release();
    }
  }
}

function ignorePassing(error: unknown): void {
  if (!isPassing(error)) throw error;
}

function totalsOf(all: Iterable<Counted | null>): JobTotals {
  const sums = new Map<string, number>();
  const add = (kind: string, state: string, count: number) =>
    sums.set(`${kind} ${state}`, (sums.get(`${kind} ${state}`) ?? 0) + count);
  for (const kind of ['write', 'schedule', 'mail', 'code']) for (const state of ['waiting', 'delayed']) add(kind, state, 0);
  for (const state of ['waiting', 'running']) add('import', state, 0);
  let oldest: number | null = null;
  for (const counted of all) {
    if (!counted) continue;
    for (const { kind, waiting, delayed } of counted.jobs) {
      add(kind, 'waiting', waiting);
      add(kind, 'delayed', delayed);
    }
    add('import', 'waiting', counted.imports.waiting);
    add('import', 'running', counted.imports.running);
    if (counted.oldest !== null) oldest = Math.min(oldest ?? counted.oldest, counted.oldest);
  }
  const counts = Array.from(sums, ([key, count]) => {
    const [kind = '', state = ''] = key.split(' ');
    return [kind, state, count] as const;
  });
  return { counts, oldest };
}
