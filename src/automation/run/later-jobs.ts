import { setTimeout as wait } from 'node:timers/promises';
import { master } from '../../access/index.ts';
import { newRowId } from '../../audit/index.ts';
import { isPassing } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import type { Cause, RecordContext } from '../../records/index.ts';
import { logRow } from '../log.ts';
import { type Job, type LaterKind, laterKinds, noteJob, removeJob, startedFlag, stateOf } from '../queue/index.ts';
import { type Attempt, type LaterJob, type LaterWork, UnreadableJob } from '../queue/later.ts';
import { backoff, commit, endedMessage, givenUpMessage, JobLost, type Steps } from './outcome.ts';
import type { Place } from './parts.ts';

/** Jobs of a kind that are tried at the same time. Room of their own: a mail server that hangs keeps no function waiting. */
const sideBySide: Readonly<Record<LaterKind, number>> = { mail: 3, code: 8 };
const MINUTE = 60_000;
/** For how long faults are tried again. */
const DAY = 86_400_000;
/** Attempts of a call that ended with their process. It may be the call that ends it. */
const MOST_ENDED = 6;

/** Jobs that are tried until they succeed: messages, queued calls of functions (docs/adr/0012). */
export class LaterJobs {
  readonly #place: Place;
  readonly #finished: (id: string) => void;
  readonly #running: Record<LaterKind, number> = { mail: 0, code: 0 };

  /** @param finished told when a job is not at work any more; it may be in the queue again */
  constructor(place: Place, finished: (id: string) => void) {
    this.#place = place;
    this.#finished = finished;
  }

  /** How many of a kind may be begun. */
  room(kind: LaterKind): number {
    const most = this.#place.parts.holds.most(kind, sideBySide[kind], Date.now());
    return Math.max(0, most - this.#running[kind]);
  }

  get isQuiet(): boolean {
    return laterKinds.every((kind) => this.#running[kind] === 0);
  }

  begin(job: Job): void {
    const kind = job.kind as LaterKind;
    this.#running[kind]++;
    void this.#run(job, kind)
      .catch((error) => {
        const { parts, system, isEnough } = this.#place;
        if (!(error instanceof JobLost) && !isEnough())
          parts.log.error({ err: error, app: system.appId }, 'a queued job met a fault');
      })
      .finally(() => {
        this.#running[kind]--;
        this.#finished(job.id);
      });
  }

  async #run(job: Job, kind: LaterKind): Promise<void> {
    const work = this.#place.parts.later.get(kind);
    if (!work) return this.#note((schema) => removeJob(schema, job));
    if (kind === 'code' && !(await this.#begin(job))) return;
    const attempt = await this.#attempt(job, kind, work);
    if (attempt.kind === 'done' && attempt.committed) return;
    const steps: Steps = attempt.steps ?? (() => []);
    if (attempt.kind !== 'again') return this.#note((schema) => [...removeJob(schema, job), ...steps(schema)]);
    // The end may have cut it. It is made again after the next start.
    if (this.#place.isEnough()) return;
    const noted = { attempts: job.attempts + 1, dueAt: Date.now() + attempt.pause, flags: null };
    return this.#note((schema) => [noteJob(schema, job, noted), ...steps(schema)]);
  }

  /** Notes that a call begins, so that it counts if the process ends meanwhile. @returns false where it ended so too often */
  async #begin(job: Job): Promise<boolean> {
    const isGivenUp = job.isStarted && job.attempts >= MOST_ENDED;
    const told = job.isStarted ? logSteps(job, isGivenUp ? givenUpMessage : endedMessage) : () => [];
    const noted = { attempts: job.attempts + 1, flags: startedFlag };
    await this.#note((schema) => [...(isGivenUp ? removeJob(schema, job) : [noteJob(schema, job, noted)]), ...told(schema)]);
    return !isGivenUp;
  }

  async #attempt(job: Job, kind: LaterKind, work: LaterWork): Promise<Attempt> {
    const { system, parts, isOver } = this.#place;
    try {
      const attempt = await work(system, this.#asTold(job), parts);
      if (attempt.kind === 'again' && attempt.isShared) parts.holds.fail(kind, Date.now());
      else parts.holds.succeed(kind);
      return attempt;
    } catch (error) {
      if (isOver()) throw error;
      if (isPassing(error)) return { kind: 'again', pause: backoff(job.attempts) };
      if (error instanceof UnreadableJob) return { kind: 'failed', steps: logSteps(job, error.message) };
      parts.log.error({ err: error, app: system.appId, kind: job.kind }, 'a queued job met a fault');
      if (Date.now() - job.queuedAt < DAY) return { kind: 'again', pause: MINUTE };
      return { kind: 'failed', steps: logSteps(job, 'server error') };
    }
  }

  #asTold(job: Job): LaterJob {
    const { system, parts } = this.#place;
    const { appId, store } = system;
    const [triggerId = ''] = job.triggers;
    const cause: Cause = { triggerId, level: job.level, source: job.source ?? triggerId, chain: job.chain };
    const done: Steps = (schema) => removeJob(schema, job);
    const reading: RecordContext = { appId, store, principal: master, hooks: parts.hooks, referer: null, cause };
    const { id, attempts, queuedAt } = job;
    return { id, state: stateOf(job), attempts, queuedAt, cause, done, context: { ...reading, alongside: done }, reading };
  }

  /** Commits what came of an attempt, however long that takes: it may be more than the next attempt could know. @throws JobLost */
  async #note(steps: Steps): Promise<void> {
    for (let failures = 0; ; failures++)
      try {
        if (this.#place.isOver()) throw new JobLost();
        return await commit(this.#place.system.store, steps);
      } catch (error) {
        if (error instanceof JobLost || this.#place.isEnough()) throw error;
        await wait(backoff(failures), undefined, { ref: false });
      }
  }
}

/** A row of the log about a job, of the action that queued it. */
function logSteps(job: Job, error: string): Steps {
  const at = Date.now();
  const { trigger } = stateOf(job);
  const named: JsonObject = isJsonObject(trigger) ? trigger : {};
  const actionId = typeof named.actionId === 'string' ? named.actionId : null;
  const { event, className, objectId } = job;
  const [triggerId = ''] = job.triggers;
  const row = { id: newRowId(at), at, triggerId, actionId, event, className, objectId, data: null, error };
  return (schema) => logRow(schema, row);
}
