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
  queueTable,
  type RetryableKind,
  removeJob,
  retryableKinds,
  startedFlag,
  stateOf,
  updateJob,
} from '../queue/index.ts';
import { type Attempt, type RetryableJob, type RetryableWork, UnreadableJob } from '../queue/retryable-jobs.ts';
import { outageOf } from './outage.ts';
import { backoff, commit, endedMessage, givenUpMessage, JobLost, type Steps } from './outcome.ts';
import type { JobContext } from './services.ts';

/** Concurrent jobs per kind. Separate slots, so that a hanging mail server does not delay functions. */
const CONCURRENCY: Readonly<Record<RetryableKind, number>> = { mail: 3, code: 8 };
/** How long unexpected faults are retried. */
export const RETRY_WINDOW_MS = DAY_MS;
/** Attempts of a call that were interrupted by the end of their process, after which it is given up: the call may be the cause. */
const MAX_INTERRUPTED_ATTEMPTS = 6;
/** Interval at which a wait checks for shutdown. */
const POLL_INTERVAL_MS = 200;
/** Consecutive faults after which a job waits even when the store is back: the store may lack room for this job. */
const FAULTS_BEFORE_WAIT = 3;
/** Maximum delay for a transient failure of something other than the store, whose recovery is not signalled. */
const MAX_TRANSIENT_DELAY_MS = 1_500;

/** Runs jobs that are retried until they succeed: messages and queued calls of functions (adr/0012). */
export class RetryableJobs {
  readonly #context: JobContext;
  readonly #finished: (id: string) => void;
  readonly #running: Record<RetryableKind, number> = { mail: 0, code: 0 };
  /** Consecutive transient failures by job. */
  readonly #faults = new Map<string, number>();

  /** @param finished called when a job is no longer running; it may still be in the queue */
  constructor(jobContext: JobContext, finished: (id: string) => void) {
    this.#context = jobContext;
    this.#finished = finished;
  }

  /** Returns how many jobs of a kind may be started. */
  freeSlots(kind: RetryableKind): number {
    const max = this.#context.services.breaker.maxConcurrent(kind, CONCURRENCY[kind], performance.now());
    return Math.max(0, max - this.#running[kind]);
  }

  get isIdle(): boolean {
    return retryableKinds.every((kind) => this.#running[kind] === 0);
  }

  begin(job: Job): void {
    const kind = job.kind as RetryableKind;
    this.#running[kind]++;
    void this.#run(job, kind)
      .catch((error) => {
        const { services, system, shouldStop } = this.#context;
        if (!(error instanceof JobLost) && !shouldStop())
          services.conditions.met('a queued job met a fault', { app: system.appId }, error);
      })
      .finally(() => {
        this.#running[kind]--;
        this.#finished(job.id);
      });
  }

  async #run(job: Job, kind: RetryableKind): Promise<void> {
    const work = this.#context.services.retryable.get(kind);
    if (!work) return this.#record((schema) => removeJob(schema, job));
    if (kind === 'code' && !(await this.#begin(job))) return;
    const attempt = await this.#attempt(job, kind, work);
    if (attempt.kind !== 'again' || !attempt.isUncounted) this.#faults.delete(job.id);
    if (attempt.kind === 'done' && attempt.committed) return;
    const steps: Steps = attempt.steps ?? (() => []);
    if (attempt.kind !== 'again') return this.#record((schema) => [...removeJob(schema, job), ...steps(schema)]);
    // Shutdown may have interrupted the attempt; it is repeated after the next start.
    if (this.#context.shouldStop()) return;
    const attempts = job.attempts + (attempt.isUncounted ? 0 : 1);
    const expectedAttempts = job.attempts + (kind === 'code' ? 1 : 0);
    return this.#record((schema) => {
      const now = Date.now();
      const update = { attempts, dueAt: now + attempt.delayMs, updatedAt: now, flags: null };
      return [updateJob(schema, { ...job, expectedAttempts }, update), ...steps(schema)];
    });
  }

  /**
   * Records the start of a call, so that it counts if the process ends meanwhile. @returns false if the call is given up after too many interruptions
   */
  async #begin(job: Job): Promise<boolean> {
    const isGivenUp = job.isStarted && job.attempts >= MAX_INTERRUPTED_ATTEMPTS;
    const logged = job.isStarted ? logSteps(job, isGivenUp ? givenUpMessage : endedMessage) : () => [];
    const attempts = job.attempts + 1;
    const asRead = { ...job, expectedAttempts: job.attempts };
    const update = { attempts, flags: startedFlag };
    await this.#record(
      (schema) => [...(isGivenUp ? removeJob(schema, job) : [updateJob(schema, asRead, update)]), ...logged(schema)],
      () => this.#isBegun(job, attempts),
    );
    return !isGivenUp;
  }

  /** Whether the row shows that this process's attempt of this number is in progress. */
  async #isBegun({ id, owner }: Job, attempts: number): Promise<boolean> {
    const row = await readRow<BeginRow>(this.#context.system.store, queueTable, beginFields, id);
    return row?.owner === owner && row.attempts === attempts && row.flags === startedFlag;
  }

  async #attempt(job: Job, kind: RetryableKind, work: RetryableWork): Promise<Attempt> {
    const { system, services, isAborted } = this.#context;
    try {
      const attempt = await work(system, this.#toRetryableJob(job), services);
      if (attempt.kind === 'again' && attempt.isShared)
        services.breaker.fail(kind, performance.now(), attempt.isUncounted ? MAX_TRANSIENT_DELAY_MS : undefined);
      else services.breaker.succeed(kind);
      return attempt;
    } catch (error) {
      if (isAborted()) throw error;
      if (isPassing(error)) return this.#retryAfter(error, job);
      if (error instanceof UnreadableJob) return { kind: 'failed', steps: logSteps(job, error.message) };
      services.conditions.met('a queued job met a fault', { app: system.appId, kind: job.kind }, error);
      if (Date.now() - job.queuedAt < RETRY_WINDOW_MS) return { kind: 'again', delayMs: MINUTE_MS };
      return { kind: 'failed', steps: logSteps(job, 'server error') };
    }
  }

  /** Returns a retry: as soon as the store is back if there is an outage, since the result is recorded then. */
  async #retryAfter(error: unknown, { id }: Job): Promise<Attempt> {
    const failures = this.#faults.get(id) ?? 0;
    this.#faults.set(id, failures + 1);
    const isOutage = await outageOf(this.#context.system.store).isCauseOf(error);
    const maxDelayMs = isTimeout(error) ? Number.POSITIVE_INFINITY : MAX_TRANSIENT_DELAY_MS;
    const delayMs = isOutage && failures <= FAULTS_BEFORE_WAIT ? 0 : Math.min(maxDelayMs, backoff(failures));
    return { kind: 'again', delayMs, isUncounted: true };
  }

  #toRetryableJob(job: Job): RetryableJob {
    const { system, services } = this.#context;
    const { appId, store } = system;
    const [triggerId = ''] = job.triggers;
    const cause: Cause = { triggerId, level: job.level, source: job.source ?? triggerId, chain: job.chain };
    const done: Steps = (schema) => removeJob(schema, job);
    const reading: RecordContext = { appId, store, principal: master, hooks: services.hooks, referer: null, cause };
    const { id, attempts, queuedAt } = job;
    return { id, state: stateOf(job), attempts, queuedAt, cause, done, context: { ...reading, alongside: done }, reading };
  }

  /**
   * Persists the result of an attempt, retrying without limit: the result (e.g. "mail was sent") cannot be rediscovered later.
   * @param isDone called if an earlier commit may have taken effect without an answer, when it can no longer do so
   * @throws JobLost
   */
  async #record(steps: Steps, isDone: () => Promise<boolean> = async () => false): Promise<void> {
    const { system, shouldStop, isAborted } = this.#context;
    let isOutcomeUnknown = false;
    for (let failures = 0; ; failures++)
      try {
        if (isAborted()) throw new JobLost();
        return await commit(system.store, steps);
      } catch (error) {
        if (error instanceof JobLost && isOutcomeUnknown && !isAborted() && (await this.#untilKnown(isDone))) return;
        if (error instanceof JobLost || shouldStop()) throw error;
        isOutcomeUnknown ||= isInDoubt((error as Error).cause);
        await this.#waitAfter(error as Error, failures);
      }
  }

  /** @throws JobLost if it can no longer be determined */
  async #untilKnown(isDone: () => Promise<boolean>): Promise<boolean> {
    for (let failures = 0; ; failures++)
      try {
        if (this.#context.isAborted()) throw new JobLost();
        return await isDone();
      } catch (error) {
        if (error instanceof JobLost || this.#context.shouldStop()) throw error;
        await this.#waitAfter({ cause: error }, failures);
      }
  }

  /** Waits until the store is back if there is an outage, else for the backoff. */
  async #waitAfter({ cause }: Pick<Error, 'cause'>, failures: number): Promise<void> {
    const { system, services, shouldStop } = this.#context;
    const outage = outageOf(system.store);
    if (await outage.isCauseOf(cause)) return outage.sleep(shouldStop);
    if (!isPassing(cause))
      services.conditions.met('what became of a queued job could not be noted', { app: system.appId }, cause);
    for (const until = performance.now() + backoff(failures); !shouldStop() && performance.now() < until; )
      await wait(POLL_INTERVAL_MS, undefined, { ref: false });
  }
}

interface BeginRow {
  readonly owner?: string;
  readonly attempts?: number;
  readonly flags?: string;
}
const beginFields = ['owner', 'attempts', 'flags'] as const;

/** Returns a log row about a job, for the action that queued it. Each call of the result generates a new id. */
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
