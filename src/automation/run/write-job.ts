import { isPassing, isTimeout, ServiceError } from '../../errors/fail.ts';
import { newRowId } from '../../kernel/ids.ts';
import type { Mutation } from '../../storage/port.ts';
import { authorityOver } from '../matching/authority.ts';
import { ActionFailed } from '../model/action.ts';
import { runnerShare } from '../model/loop-share.ts';
import type { Action, Trigger } from '../model/model.ts';
import { markCopied } from '../model/sources.ts';
import { dataOf, logRow } from '../model/trigger-log.ts';
import { type Job, removeJob, type StoredSnapshot, updateJob } from '../queue/index.ts';
import type { Failures } from './backoff.ts';
import { isSpent, MAX_DEPTH, refund, spend, spentMessage, tooDeepMessage } from './chain-limits.ts';
import { doAction } from './do-action.ts';
import { outageOf } from './outage.ts';
import { commit, JobPaused, messageOf, type Steps } from './outcome.ts';
import { beforeTrigger, type Progress, progressOf, progressState } from './progress.ts';
import { RecordSnapshot } from './record.ts';
import type { JobContext } from './services.ts';

const deletedMessage = 'The trigger was deleted before it could run.';
const inactiveMessage = 'The trigger was switched off before it could run.';

/** Timeouts of a condition, or of an action's reads, after which they count as failed. */
const MAX_TIMEOUTS = 5;

/** The result of a job: its row is gone; or nothing is left to do and its row can be removed; or it continues another time. */
export type WriteOutcome = 'done' | 'idle' | 'stopped';

/**
 * Processes a job for a write: its triggers in order, the actions of each in order, one commit per action (adr/0012).
 * @param before the record before the write; `null` if no trigger depends on it
 * @param failures consecutive failures of the record's jobs
 * @throws JobLost if this process no longer owns the job; JobPaused if it must be started again from its row
 */
export async function runWriteJob(
  jobContext: JobContext,
  job: Job,
  before: StoredSnapshot | null,
  failures: Failures,
): Promise<WriteOutcome> {
  return new WriteRun(jobContext, job, before, failures).run();
}

/** A job for a write in progress. */
export class WriteRun {
  readonly jobContext: JobContext;
  readonly job: Job;
  readonly record: RecordSnapshot;
  readonly #before: RecordSnapshot | null;
  readonly #failures: Failures;
  #progress: Progress;
  /** The progress as stored in the job's row. */
  #savedState: string | null;
  #isRemoved = false;
  /** The log row that the current trigger fired; it precedes those of its actions. */
  #fired: Steps = noSteps;
  #data: string | undefined;

  constructor(jobContext: JobContext, job: Job, before: StoredSnapshot | null, failures: Failures) {
    const { store } = jobContext.system;
    this.jobContext = jobContext;
    this.job = job;
    this.record = new RecordSnapshot(store, job, job.snapshot);
    this.#before = before && new RecordSnapshot(store, job, before);
    this.#failures = failures;
    this.#progress = progressOf(job);
    this.#savedState = job.state;
  }

  /** The progress as of the last commit, or the last trigger that did not fire. */
  get progress(): Progress {
    return this.#progress;
  }

  async run(): Promise<WriteOutcome> {
    const { job, jobContext } = this;
    const fault = this.record.fault ?? this.#before?.fault ?? null;
    await this.#markCopied();
    if (fault !== null) return this.#refuse(fault);
    for (;;) {
      const id = job.triggers[this.#progress.trigger];
      if (id === undefined || isSpent(jobContext.system.store, job.chain)) return this.#isRemoved ? 'done' : 'idle';
      await runnerShare.waitForTurn(jobContext.system.store);
      if (jobContext.shouldStop()) return 'stopped';
      const trigger = await this.#trigger(id);
      if (!trigger?.isActive) await this.#report(id, trigger ? inactiveMessage : deletedMessage);
      else if ((await this.#fires(trigger)) && !(await this.#runActions(trigger))) return 'stopped';
      if (this.#isRemoved) return 'done';
    }
  }

  /** Marks the table as copied, because the log will contain values of the record. */
  async #markCopied(): Promise<void> {
    const { store } = this.jobContext.system;
    try {
      await markCopied(store, [this.job.className]);
    } catch (error) {
      throw new JobPaused('the log could not be made ready', { cause: error });
    }
  }

  /** Adds one log row with the reason why none of the triggers runs. */
  async #refuse(fault: string): Promise<WriteOutcome> {
    await this.#giveUp(this.#rowOf(this.job.triggers[this.#progress.trigger] ?? '', fault));
    return 'done';
  }

  /** Ends the job, whatever is left of it. */
  async #giveUp(row: Steps): Promise<void> {
    await commit(this.jobContext.system.store, this.#stepsTo(null, row));
    this.#moveTo(null);
  }

  /** Returns the current definition of a trigger. */
  async #trigger(id: string): Promise<Trigger | undefined> {
    const { system, services } = this.jobContext;
    try {
      await services.triggers.ready(system.store);
      // The schema must not be older than the definition, which may name a field that another process has renamed.
      if (!system.store.isCurrent()) await system.store.whenCurrent();
    } catch (error) {
      throw new JobPaused('the triggers could not be read', { cause: error });
    }
    return services.triggers.byId(system.store, id);
  }

  /** @returns false if the trigger does not fire or fails; the progress has moved to the next trigger then */
  async #fires(trigger: Trigger): Promise<boolean> {
    const { jobContext, job } = this;
    if (this.#progress.isFired) return true;
    try {
      const { fires } = jobContext.services;
      // Before the criteria, whose result must not reveal a record that the author may not read.
      const { principal } = await authorityOver(jobContext.system, trigger, this.record);
      if (await fires(jobContext.system, trigger, job.event, this.record, this.#before, job.relations, principal)) return true;
      this.#progress = beforeTrigger(this.#progress.trigger + 1);
    } catch (error) {
      if (isPassing(error) && !(await this.hasTooManyTimeouts(error)))
        throw new JobPaused('a condition could not be looked at', { cause: error });
      await this.#report(trigger.id, this.messageFor(error, trigger.id));
    }
    return false;
  }

  /** Runs the remaining actions of a trigger. @returns false if shutdown interrupts them */
  async #runActions(trigger: Trigger): Promise<boolean> {
    const { job, jobContext } = this;
    if (job.level > MAX_DEPTH) {
      await this.#report(trigger.id, tooDeepMessage(job.source ?? trigger.id));
      return true;
    }
    this.#fired = this.#rowOf(trigger.id, null);
    let at = this.#nextAction(trigger, this.#progress.action);
    if (at === null) await this.#report(trigger.id, null);
    while (at !== null) {
      if (jobContext.shouldStop()) return false;
      const budget = spend(jobContext.system.store, job.chain);
      if (budget !== 'counted') {
        await this.#giveUp(budget === 'logged' ? noSteps : this.#rowOf(trigger.id, spentMessage(job.source ?? trigger.id)));
        return true;
      }
      const next = this.#nextAction(trigger, at + 1);
      if (at !== this.#progress.action) this.#progress = { ...this.#progress, action: at, started: null };
      const after = next === null ? this.#afterTrigger() : { ...this.#progress, isFired: true, action: next, started: null };
      await doAction(this, trigger, trigger.actions[at] as Action, after).catch((error: unknown) => {
        // It will be counted when it is repeated.
        refund(jobContext.system.store, job.chain);
        throw error;
      });
      this.#moveTo(after);
      at = next;
    }
    return true;
  }

  /** Returns the index of the first action to execute from `from` on; `null` if there is none. */
  #nextAction({ actions }: Trigger, from: number): number | null {
    const { silenced } = this.job;
    for (let at = from; at < actions.length; at++) {
      const { isActive, type } = actions[at] as Action;
      const isSilenced =
        (type === 'create-object' && silenced.has('createActions')) ||
        (type === 'update-object' && silenced.has('updateActions'));
      if (isActive && !isSilenced) return at;
    }
    return null;
  }

  /** Returns the progress after the current trigger; `null` at the end of the job. */
  #afterTrigger(): Progress | null {
    const next = this.#progress.trigger + 1;
    return next < this.job.triggers.length ? beforeTrigger(next) : null;
  }

  #moveTo(progress: Progress | null): void {
    if (progress) {
      this.#progress = progress;
      this.#savedState = textOf(progress);
    } else {
      this.#isRemoved = true;
      this.#progress = beforeTrigger(this.job.triggers.length);
    }
  }

  /** Logs that a trigger fired, or why it does not run; then moves on to the next trigger. */
  async #report(triggerId: string, error: string | null): Promise<void> {
    const after = this.#afterTrigger();
    // The trigger fired before a crash, which has been logged.
    const row = error === null && this.#progress.isFired ? noSteps : this.#rowOf(triggerId, error);
    await commit(this.jobContext.system.store, this.#stepsTo(after, row));
    this.#moveTo(after);
  }

  /** Records the start of an action. @throws as `commit` */
  async recordStart(started: Progress['started'], rows: Steps): Promise<void> {
    const progress = { ...this.#progress, isFired: true, started };
    await commit(this.jobContext.system.store, this.stepsTo(progress, rows));
    this.#progress = progress;
    this.#savedState = textOf(progress);
  }

  /** Returns the mutations that set the progress, with the log row that the trigger fired unless it exists. */
  stepsTo(progress: Progress | null, rows: Steps): Steps {
    const fired = this.#progress.isFired ? noSteps : this.#fired;
    return this.#stepsTo(progress, (schema) => [...inOrder(fired(schema)), ...rows(schema)]);
  }

  #stepsTo(progress: Progress | null, rows: Steps): Steps {
    const job = { ...this.job, expectedState: this.#savedState };
    return (schema) => [
      ...(progress ? [updateJob(schema, job, { state: progressState(progress) })] : removeJob(schema, job)),
      ...rows(schema),
    ];
  }

  #rowOf(triggerId: string, error: string | null): Steps {
    const at = Date.now();
    return this.logSteps({ id: newRowId(at), at, triggerId, actionId: null, error });
  }

  /** Returns the mutation for a log row about this job. */
  logSteps(row: Pick<Parameters<typeof logRow>[1], 'id' | 'at' | 'triggerId' | 'actionId' | 'error' | 'sources'>): Steps {
    const { event, className, objectId } = this.job;
    this.#data ??= dataOf(this.record.copy());
    const whole = { ...row, event, className, objectId, data: this.#data };
    return (schema) => logRow(schema, whole);
  }

  /**
   * Whether timeouts are so frequent that they count as failures: what is always slow would block the record for ever. Timeouts during an outage of
   * the store do not count.
   */
  async hasTooManyTimeouts(error: unknown): Promise<boolean> {
    return (
      isTimeout(error) &&
      this.#failures.timeouts >= MAX_TIMEOUTS &&
      !(await outageOf(this.jobContext.system.store).isCauseOf(error))
    );
  }

  /** Returns the log text of an error. Faults are logged for the operator. */
  messageFor(error: unknown, triggerId: string): string {
    if (error instanceof ActionFailed) return error.message;
    if (!(error instanceof ServiceError)) this.#logFault(error, triggerId);
    return messageOf(error);
  }

  #logFault(error: unknown, triggerId: string): void {
    const { system, services, isAborted } = this.jobContext;
    if (isAborted()) return;
    services.log.error({ err: error, app: system.appId, trigger: triggerId }, 'a trigger met a fault');
  }
}

const noSteps: Steps = () => [];

/** As stored in the job's row. */
const textOf = (progress: Progress): string => JSON.stringify(progressState(progress));

/** Turns rows into ordinary inserts, since the order of notes within a commit is not guaranteed. */
function inOrder(steps: readonly Mutation[]): Mutation[] {
  return steps.map((step) => {
    if (step.kind !== 'insert') return step;
    const { isNote: _, ...ordinary } = step;
    return ordinary;
  });
}
