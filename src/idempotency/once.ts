import { fail, isRefusal, serviceError } from '../errors/fail.ts';
import { memoByObject } from '../kernel/memo.ts';
import type { Store } from '../storage/port.ts';
import type { RequestKey } from './key.ts';
import { changeStarted, forget, isExpired, type KeyRow, keep, readKey } from './key-rows.ts';

/** Keys of requests that this process executes. */
const runningOf = memoByObject<Store, Set<string>>(() => new Set());

/** What became of a request. */
export interface Once<T> {
  readonly answer: T;
  /** Whether it is the answer of an earlier request with the key. */
  readonly isReplay: boolean;
}

/** Number of keys that a process remembers to have met at least; twice as many are some 2 MB. */
const MIN_MET = 10_000;

/** Keys that this process has met: a write that fails in its commit costs the others of its group time, so these are looked up before. */
class MetKeys {
  #newer = new Set<string>();
  #older: ReadonlySet<string> = new Set();

  /** Adds a key. @returns whether it was known */
  add(id: string): boolean {
    const isKnown = this.#newer.has(id) || this.#older.has(id);
    this.#newer.add(id);
    if (this.#newer.size >= MIN_MET) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    return isKnown;
  }
}

const metBy = memoByObject<Store, MetKeys>(() => new MetKeys());

/** Maximum expired rows that may stand in the way of a key: another process may make one meanwhile. */
const MAX_EXPIRED = 3;

/**
 * Executes a request of one commit that keeps the key, or returns the answer of the request that was made with the key before. The commit decides:
 * of two processes one fails, and then answers as the other did. Nothing is read before, so that a first request costs little, unless the key has
 * been met.
 * @param execute makes the commit with the key (`keeping`); nothing else of it may last
 * @param replay returns the answer by the row of the key
 * @throws requestUnderWay (409), keyReused (422), duplicateRequest (159); what `execute` throws, if no request with the key was carried out
 */
export function once<T>(
  store: Store,
  key: RequestKey,
  execute: () => Promise<T>,
  replay: (row: KeyRow) => Promise<T>,
): Promise<Once<T>> {
  return alone(store, key, async () => {
    const isMet = metBy(store).add(key.id);
    const known = isMet || key.isRepeated ? await readKey(store, key.id) : null;
    if (known && !isExpired(known)) return { answer: await replay(checked(key, known)), isReplay: true };
    for (let left = MAX_EXPIRED; ; left--)
      try {
        return { answer: await execute(), isReplay: false };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        const row = await readKey(store, key.id);
        if (!row || left === 0) throw error;
        if (!isExpired(row)) return { answer: await replay(checked(key, row)), isReplay: true };
        await forget(store, row);
      }
  });
}

/** @throws requestUnderWay (409), duplicateRequest (159) */
async function alone<T>(store: Store, key: RequestKey, work: () => Promise<T>): Promise<T> {
  const running = runningOf(store);
  if (running.has(key.id)) throw busy(key);
  running.add(key.id);
  try {
    return await work();
  } finally {
    running.delete(key.id);
  }
}

const busy = ({ kind }: RequestKey) => serviceError(kind === 'requestId' ? 'duplicateRequest' : 'requestUnderWay');

/** @throws duplicateRequest (159), keyReused (422) */
export function checked(key: RequestKey, row: KeyRow): KeyRow {
  if (key.kind === 'requestId') fail('duplicateRequest');
  return row.fingerprint === key.fingerprint ? row : fail('keyReused');
}

/** A request of several commits. */
export interface StepwiseRequest<T> {
  /** Executes it. @param isRepeated whether some of its steps may have been made */
  execute(isRepeated: boolean): Promise<T>;
  /** Returns what is kept of the answer, whose text is `null` if it is too long; `null` if a repetition has to resume the request. */
  keptOf(answer: T): { readonly answer: string | null; readonly sealed?: string | null } | null;
  /** Whether a request that failed may have written anything: otherwise its repetition is executed. */
  hasWritten(error: unknown): boolean;
  /** Returns the answer of a request that was carried out. */
  replay(row: KeyRow): Promise<T>;
  /** Whether an interrupted request is executed again, because each of its steps is made only once; otherwise its repetition is in doubt. */
  readonly isResumable: boolean;
}

/**
 * Executes a request of several commits, or answers as the first one did. A row says that it has begun, and what its answer was.
 * @throws requestUnderWay (409), also while another process executes it; keyReused (422); duplicateRequest (159); outcomeUnknown (503) if an
 * interrupted one cannot be resumed; what `execute` throws
 */
export function onceStepwise<T>(store: Store, key: RequestKey, request: StepwiseRequest<T>): Promise<Once<T>> {
  const owner = store.cluster.processId;
  return alone(store, key, async () => {
    for (let left = MAX_EXPIRED; ; left--) {
      const row = await begin(store, key, owner);
      if (row === null) return { answer: await run(store, key, owner, request, false), isReplay: false };
      if (isExpired(row) && left > 0) {
        await forget(store, row);
        continue;
      }
      const { state, owner: former = '' } = checked(key, row);
      if (state !== 'started') return { answer: await request.replay(row), isReplay: true };
      // Of this process: it is not running any more, so a fault has interrupted it.
      if (former !== owner && (await store.cluster.processes()).has(former)) throw busy(key);
      if (!request.isResumable) fail('outcomeUnknown');
      if (former !== owner && !(await changeStarted(store, key.id, former, { owner }))) throw busy(key);
      return { answer: await run(store, key, owner, request, true), isReplay: false };
    }
  });
}

/** Keeps the key of a request that begins. @returns `null`, or the row that is there */
async function begin(store: Store, key: RequestKey, owner: string): Promise<KeyRow | null> {
  for (;;)
    try {
      await store.write({
        plan: (schema) => ({ changes: [], mutations: [keep(schema, key, key.id, { state: 'started', owner })] }),
      });
      return null;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const row = await readKey(store, key.id);
      if (row) return row;
    }
}

async function run<T>(
  store: Store,
  key: RequestKey,
  owner: string,
  request: StepwiseRequest<T>,
  isRepeated: boolean,
): Promise<T> {
  let answer: T;
  try {
    answer = await request.execute(isRepeated);
  } catch (error) {
    // A repetition is executed if nothing was done; otherwise it is resumed, or in doubt.
    if (!request.hasWritten(error))
      await readKey(store, key.id).then(
        (row) => row && forget(store, row),
        () => {},
      );
    throw error;
  }
  // The work is done, whether its answer is kept or not.
  const kept = request.keptOf(answer);
  if (!kept) return answer;
  await changeStarted(store, key.id, owner, { state: null, answer: kept.answer, sealed: kept.sealed ?? null }).catch(() => {});
  return answer;
}
