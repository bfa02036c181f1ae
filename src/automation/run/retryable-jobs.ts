import { setTimeout as wait } from 'node:timers/promises';
import { master } from '../../access/index.ts';
import { isInDoubt, isPassing, isTimeout } from '../../errors/fail.ts';
import { newRowId } from '../../kernel/ids.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { DAY_MS, MINUTE_MS } from '../../kernel/time.ts';
import { type Cause, type RecordContext, readRow } from '../../records/index.ts';
import { logRow } from '../model/trigger-log.ts';
import {
  type Job,
  noteJob,
  queueTable,
  type RetryableKind,
  removeJob,
  retryableKinds,
  startedFlag,
  stateOf,
} from '../queue/index.ts';
import { type Attempt, type RetryableJob, type RetryableWork, UnreadableJob } from '../queue/retryable-jobs.ts';
import { outageOf } from './outage.ts';
import { backoff, commit, endedMessage, givenUpMessage, JobLost, type Steps } from './outcome.ts';
import type { JobContext } from './services.ts';

/** Jobs of a kind that are tried at the same time. Room of their own: a mail server that hangs keeps no function waiting. */
const sideBySide: Readonly<Record<RetryableKind, number>> = { mail: 3, code: 8 };
/** For how long faults are tried again. */
const RETRY_WINDOW_MS = DAY_MS;
/** Attempts of a call that ended with their process. It may be the call that ends it. */
const MAX_INTERRUPTED_ATTEMPTS = 6;
/** Milliseconds between two looks whether the service ends. */
const GLANCE_MS = 200;
/** Faults in a row after which a job has to wait, too, when the store is back: it may be this one that it has no room for. */
const FAULTS_BEFORE_WAIT = 3;
/** Milliseconds at the most where what is away, and is no store, tells nobody when it is back. */
const PASSING_MS = 1_500;

/** Jobs that are tried until they succeed: messages, queued calls of functions (docs/adr/0012). */
export class RetryableJobs {
  readonly #context: JobContext;
  readonly #finished: (id: string) => void;
  readonly #running: Record<RetryableKind, number> = { mail: 0, code: 0 };
  /** Jobs that met faults which pass, and how often in a row. */
  readonly #faults = new Map<string, number>();

  /** @param finished told when a job is not at work any more; it may be in the queue again */
  constructor(jobContext: JobContext, finished: (id: string) => void) {
    this.#context = jobContext;
    this.#finished = finished;
  }

  /** How many of a kind may be begun. */
  room(kind: RetryableKind): number {
    const most = this.#context.parts.breaker.most(kind, sideBySide[kind], performance.now());
    return Math.max(0, most - this.#running[kind]);
  }

  get isQuiet(): boolean {
    return retryableKinds.every((kind) => this.#running[kind] === 0);
  }

  begin(job: Job): void {
    const kind = job.kind as RetryableKind;
    this.#running[kind]++;
    void this.#run(job, kind)
      .catch((error) => {
        const { parts, system, isEnough } = this.#context;
        if (!(error instanceof JobLost) && !isEnough())
          parts.conditions.met('a queued job met a fault', { app: system.appId }, error);
      })
      .finally(() => {
        this.#running[kind]--;
        this.#finished(job.id);
      });
  }

  async #run(job: Job, kind: RetryableKind): Promise<void> {
    const work = this.#context.parts.later.get(kind);
    if (!work) return this.#note((schema) => removeJob(schema, job));
    if (kind === 'code' && !(await this.#begin(job))) return;
    const attempt = await this.#attempt(job, kind, work);
    if (attempt.kind !== 'again' || !attempt.isUncounted) this.#faults.delete(job.id);
    if (attempt.kind === 'done' && attempt.committed) return;
    const steps: Steps = attempt.steps ?? (() => []);
    if (attempt.kind !== 'again') return this.#note((schema) => [...removeJob(schema, job), ...steps(schema)]);
    // The end may have cut it. It is made again after the next start.
    if (this.#context.isEnough()) return;
    const attempts = job.attempts + (attempt.isUncounted ? 0 : 1);
    const wasAttempts = job.attempts + (kind === 'code' ? 1 : 0);
    return this.#note((schema) => {
      const now = Date.now();
      const noted = { attempts, dueAt: now + attempt.pause, updatedAt: now, flags: null };
      return [noteJob(schema, { ...job, wasAttempts }, noted), ...steps(schema)];
    });
  }

  /** Notes that a call begins, so that it counts if the process ends meanwhile. @returns false where it ended so too often */
  async #begin(job: Job): Promise<boolean> {
    const isGivenUp = job.isStarted && job.attempts >= MAX_INTERRUPTED_ATTEMPTS;
    const told = job.isStarted ? logSteps(job, isGivenUp ? givenUpMessage : endedMessage) : () => [];
    const attempts = job.attempts + 1;
    const asRead = { ...job, wasAttempts: job.attempts };
    const noted = { attempts, flags: startedFlag };
    await this.#note(
      (schema) => [...(isGivenUp ? removeJob(schema, job) : [noteJob(schema, asRead, noted)]), ...told(schema)],
      () => this.#isBegun(job, attempts),
    );
    return !isGivenUp;
  }

  /** Whether a row says that an attempt of this process is under way, the one of this number. */
  async #isBegun({ id, owner }: Job, attempts: number): Promise<boolean> {
    const row = await readRow<BeginRow>(this.#context.system.store, queueTable, beginFields, id);
    return row?.owner === owner && row.attempts === attempts && row.flags === startedFlag;
  }

  async #attempt(job: Job, kind: RetryableKind, work: RetryableWork): Promise<Attempt> {
    const { system, parts, isOver } = this.#context;
    try {
      const attempt = await work(system, this.#asTold(job), parts);
      if (attempt.kind === 'again' && attempt.isShared)
        parts.breaker.fail(kind, performance.now(), attempt.isUncounted ? PASSING_MS : undefined);
      else parts.breaker.succeed(kind);
      return attempt;
    } catch (error) {
      if (isOver()) throw error;
      if (isPassing(error)) return this.#againSince(error, job);
      if (error instanceof UnreadableJob) return { kind: 'failed', steps: logSteps(job, error.message) };
      parts.conditions.met('a queued job met a fault', { app: system.appId, kind: job.kind }, error);
      if (Date.now() - job.queuedAt < RETRY_WINDOW_MS) return { kind: 'again', pause: MINUTE_MS };
      return { kind: 'failed', steps: logSteps(job, 'server error') };
    }
  }

  /** As soon as the store is back, where that was away; for its end is noted then. */
  async #againSince(error: unknown, { id }: Job): Promise<Attempt> {
    const failures = this.#faults.get(id) ?? 0;
    this.#faults.set(id, failures + 1);
    const isOutage = await outageOf(this.#context.system.store).isCauseOf(error);
    const longest = isTimeout(error) ? Number.POSITIVE_INFINITY : PASSING_MS;
    const pause = isOutage && failures <= FAULTS_BEFORE_WAIT ? 0 : Math.min(longest, backoff(failures));
    return { kind: 'again', pause, isUncounted: true };
  }

  #asTold(job: Job): RetryableJob {
    const { system, parts } = this.#context;
    const { appId, store } = system;
    const [triggerId = ''] = job.triggers;
    const cause: Cause = { triggerId, level: job.level, source: job.source ?? triggerId, chain: job.chain };
    const done: Steps = (schema) => removeJob(schema, job);
    const reading: RecordContext = { appId, store, principal: master, hooks: parts.hooks, referer: null, cause };
    const { id, attempts, queuedAt } = job;
    return { id, state: stateOf(job), attempts, queuedAt, cause, done, context: { ...reading, alongside: done }, reading };
  }

  /**
   * Commits the result of an attempt, retrying without a limit: the next attempt could not find it out (that mail was sent, say).
   * @param isDone asked where it may have been carried out without an answer: it cannot be then any more
   * @throws JobLost
   */
  async #note(steps: Steps, isDone: () => Promise<boolean> = async () => false): Promise<void> {
    const { system, isEnough, isOver } = this.#context;
    let isDoubted = false;
    for (let failures = 0; ; failures++)
      try {
        if (isOver()) throw new JobLost();
        return await commit(system.store, steps);
      } catch (error) {
        if (error instanceof JobLost && isDoubted && !isOver() && (await this.#whether(isDone))) return;
        if (error instanceof JobLost || isEnough()) throw error;
        isDoubted ||= isInDoubt((error as Error).cause);
        await this.#pauseAfter(error as Error, failures);
      }
  }

  /** @throws JobLost where nobody can tell any more */
  async #whether(isDone: () => Promise<boolean>): Promise<boolean> {
    for (let failures = 0; ; failures++)
      try {
        if (this.#context.isOver()) throw new JobLost();
        return await isDone();
      } catch (error) {
        if (error instanceof JobLost || this.#context.isEnough()) throw error;
        await this.#pauseAfter({ cause: error }, failures);
      }
  }

  /** Until the store is back, where that is away. */
  async #pauseAfter({ cause }: Pick<Error, 'cause'>, failures: number): Promise<void> {
    const { system, parts, isEnough } = this.#context;
    const outage = outageOf(system.store);
    if (await outage.isCauseOf(cause)) return outage.sleep(isEnough);
    if (!isPassing(cause)) parts.conditions.met('what became of a queued job could not be noted', { app: system.appId }, cause);
    for (const until = performance.now() + backoff(failures); !isEnough() && performance.now() < until; )
      await wait(GLANCE_MS, undefined, { ref: false });
  }
}

interface BeginRow {
  readonly owner?: string;
  readonly attempts?: number;
  readonly flags?: string;
}
const beginFields = ['owner', 'attempts', 'flags'] as const;

/** A row of the log about a job, of the action that queued it: another one each time that it is planned. */
function logSteps(job: Job, error: string): Steps {
  const at = Date.now();
  const { trigger } = stateOf(job);
  const named: JsonObject = isJsonObject(trigger) ? trigger : {};
  const actionId = typeof named.actionId === 'string' ? named.actionId : null;
  const { event, className, objectId } = job;
  const [triggerId = ''] = job.triggers;
  const row = { at, triggerId, actionId, event, className, objectId, data: null, error };
  return (schema) => logRow(schema, { id: newRowId(at), ...row });
}
