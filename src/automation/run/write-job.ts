import { isPassing, isTimeout, ServiceError } from '../../errors/fail.ts';
import { newRowId } from '../../kernel/ids.ts';
import type { Mutation } from '../../storage/port.ts';
import { authorityOver } from '../matching/authority.ts';
import { ActionFailed } from '../model/action.ts';
import { workingOff } from '../model/loop-share.ts';
import type { Action, Trigger } from '../model/model.ts';
import { noteCopied } from '../model/sources.ts';
import { dataOf, logRow } from '../model/trigger-log.ts';
import { type Job, noteJob, removeJob, type StoredSnapshot } from '../queue/index.ts';
import type { Failures } from './backoff.ts';
import { isSpent, MAX_DEPTH, refund, spend, spentMessage, tooDeepMessage } from './chain-limits.ts';
import { doAction } from './do-action.ts';
import { outageOf } from './outage.ts';
import { commit, JobPaused, messageOf, type Steps } from './outcome.ts';
import { beforeTrigger, type Progress, progressOf, progressState } from './progress.ts';
import { RecordSnapshot } from './record.ts';
import type { JobContext } from './services.ts';

const gone = 'The trigger was deleted before it could run.';
const off = 'The trigger was switched off before it could run.';

/** Times that a condition, or what an action reads, may take too long. */
const MAX_TIMEOUTS = 5;

/**
 * What became of a job: its row is gone; or nothing is left to do, and its row is to be taken out of the queue; or it goes on another time.
 */
export type WriteOutcome = 'done' | 'idle' | 'stopped';

/**
 * Works a job of a write off (docs/adr/0012): its triggers in their order, the actions of each in theirs, one commit for each action.
 * @param before the record before the write; `null` where nobody asked
 * @param failed how often the job was paused in a row
 * @throws JobLost where it is not this process's any more; JobPaused where it has to be begun again from its row
 */
export async function runWriteJob(
  jobContext: JobContext,
  job: Job,
  before: StoredSnapshot | null,
  failed: Failures,
): Promise<WriteOutcome> {
  return new WriteRun(jobContext, job, before, failed).run();
}

/** A job of a write at work. */
export class WriteRun {
  readonly jobContext: JobContext;
  readonly job: Job;
  readonly record: RecordSnapshot;
  readonly #before: RecordSnapshot | null;
  readonly #failed: Failures;
  #progress: Progress;
  /** How far the job is as its row says. */
  #noted: string | null;
  #isRemoved = false;
  /** The row that says that the present trigger fired: before those of its actions. */
  #fired: Steps = noSteps;
  #data: string | undefined;

  constructor(jobContext: JobContext, job: Job, before: StoredSnapshot | null, failed: Failures) {
    const { store } = jobContext.system;
    this.jobContext = jobContext;
    this.job = job;
    this.record = new RecordSnapshot(store, job, job.snapshot);
    this.#before = before && new RecordSnapshot(store, job, before);
    this.#failed = failed;
    this.#progress = progressOf(job);
    this.#noted = job.state;
  }

  /** How far the job is, as of the last commit or the last trigger that did not fire. */
  get progress(): Progress {
    return this.#progress;
  }

  async run(): Promise<WriteOutcome> {
    const { job, jobContext } = this;
    const fault = this.record.fault ?? this.#before?.fault ?? null;
    await this.#noteCopied();
    if (fault !== null) return this.#refuse(fault);
    for (;;) {
      const id = job.triggers[this.#progress.trigger];
      if (id === undefined || isSpent(jobContext.system.store, job.chain)) return this.#isRemoved ? 'done' : 'idle';
      await workingOff.waitForTurn(jobContext.system.store);
      if (jobContext.isEnough()) return 'stopped';
      const trigger = await this.#trigger(id);
      if (!trigger?.isActive) await this.#report(id, trigger ? off : gone);
      else if ((await this.#isToRun(trigger)) && !(await this.#act(trigger))) return 'stopped';
      if (this.#isRemoved) return 'done';
    }
  }

  /** The log is about to have values of the record. */
  async #noteCopied(): Promise<void> {
    const { store } = this.jobContext.system;
    try {
      await noteCopied(store, [this.job.className]);
    } catch (error) {
      throw new JobPaused('the log could not be made ready', { cause: error });
    }
  }

  /** One row that says why none of the triggers runs. */
  async #refuse(fault: string): Promise<WriteOutcome> {
    await this.#giveUp(this.#rowOf(this.job.triggers[this.#progress.trigger] ?? '', fault));
    return 'done';
  }

  /** Ends the job, whatever is left of it. */
  async #giveUp(row: Steps): Promise<void> {
    await commit(this.jobContext.system.store, this.#stepsTo(null, row));
    this.#moveTo(null);
  }

  /** A trigger as it is when its turn has come. */
  async #trigger(id: string): Promise<Trigger | undefined> {
    const { system, parts } = this.jobContext;
    try {
      await parts.triggers.ready(system.store);
    } catch (error) {
      throw new JobPaused('the triggers could not be read', { cause: error });
    }
    return parts.triggers.byId(system.store, id);
  }

  /** @returns false where it does not fire, or cannot: the next trigger is next by then */
  async #isToRun(trigger: Trigger): Promise<boolean> {
    const { jobContext, job } = this;
    if (this.#progress.isFired) return true;
    try {
      const { fires } = jobContext.parts;
      // Before the criteria: they are not to tell of a record that the author may not read.
      const { principal } = await authorityOver(jobContext.system, trigger, this.record);
      if (await fires(jobContext.system, trigger, job.event, this.record, this.#before, job.relations, principal)) return true;
      this.#progress = beforeTrigger(this.#progress.trigger + 1);
    } catch (error) {
      if (isPassing(error) && !(await this.isOutOfPatience(error)))
        throw new JobPaused('a condition could not be looked at', { cause: error });
      await this.#report(trigger.id, this.told(error, trigger.id));
    }
    return false;
  }

  /** Does what is left of a trigger's actions. @returns false where the service ends before the last */
  async #act(trigger: Trigger): Promise<boolean> {
    const { job, jobContext } = this;
    if (job.level > MAX_DEPTH) {
      await this.#report(trigger.id, tooDeepMessage(job.source ?? trigger.id));
      return true;
    }
    this.#fired = this.#rowOf(trigger.id, null);
    let at = this.#nextAction(trigger, this.#progress.action);
    if (at === null) await this.#report(trigger.id, null);
    while (at !== null) {
      if (jobContext.isEnough()) return false;
      const spent = spend(jobContext.system.store, job.chain);
      if (spent !== 'counted') {
        await this.#giveUp(spent === 'told' ? noSteps : this.#rowOf(trigger.id, spentMessage(job.source ?? trigger.id)));
        return true;
      }
      const next = this.#nextAction(trigger, at + 1);
      if (at !== this.#progress.action) this.#progress = { ...this.#progress, action: at, started: null };
      const after = next === null ? this.#afterTrigger() : { ...this.#progress, isFired: true, action: next, started: null };
      await doAction(this, trigger, trigger.actions[at] as Action, after).catch((error: unknown) => {
        // It is counted when it is done.
        refund(jobContext.system.store, job.chain);
        throw error;
      });
      this.#moveTo(after);
      at = next;
    }
    return true;
  }

  /** The place of the first action from `from` on that is to be done; `null` where none is. */
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

  /** Where the job is when the present trigger has run; `null` at its end. */
  #afterTrigger(): Progress | null {
    const next = this.#progress.trigger + 1;
    return next < this.job.triggers.length ? beforeTrigger(next) : null;
  }

  #moveTo(progress: Progress | null): void {
    if (progress) {
      this.#progress = progress;
      this.#noted = textOf(progress);
    } else {
      this.#isRemoved = true;
      this.#progress = beforeTrigger(this.job.triggers.length);
    }
  }

  /** One row that says that a trigger fired, or why it does not run; then the next trigger. */
  async #report(triggerId: string, error: string | null): Promise<void> {
    const after = this.#afterTrigger();
    // One that fired before a crash, and has nothing left to do.
    const row = error === null && this.#progress.isFired ? noSteps : this.#rowOf(triggerId, error);
    await commit(this.jobContext.system.store, this.#stepsTo(after, row));
    this.#moveTo(after);
  }

  /** Notes the start of an action. @throws as `commit` */
  async noteStart(started: Progress['started'], rows: Steps): Promise<void> {
    const progress = { ...this.#progress, isFired: true, started };
    await commit(this.jobContext.system.store, this.stepsTo(progress, rows));
    this.#progress = progress;
    this.#noted = textOf(progress);
  }

  /** The steps that bring the job to `progress`, with the row that says that the trigger fired where it is not there yet. */
  stepsTo(progress: Progress | null, rows: Steps): Steps {
    const fired = this.#progress.isFired ? noSteps : this.#fired;
    return this.#stepsTo(progress, (schema) => [...inOrder(fired(schema)), ...rows(schema)]);
  }

  #stepsTo(progress: Progress | null, rows: Steps): Steps {
    const job = { ...this.job, was: this.#noted };
    return (schema) => [
      ...(progress ? [noteJob(schema, job, { state: progressState(progress) })] : removeJob(schema, job)),
      ...rows(schema),
    ];
  }

  #rowOf(triggerId: string, error: string | null): Steps {
    const at = Date.now();
    return this.logSteps({ id: newRowId(at), at, triggerId, actionId: null, error });
  }

  /** A row of the log about this job. */
  logSteps(row: Pick<Parameters<typeof logRow>[1], 'id' | 'at' | 'triggerId' | 'actionId' | 'error' | 'sources'>): Steps {
    const { event, className, objectId } = this.job;
    this.#data ??= dataOf(this.record.copy());
    const whole = { ...row, event, className, objectId, data: this.#data };
    return (schema) => logRow(schema, whole);
  }

  /**
   * Whether something has taken too long so often that it counts as failed: what is slow each time would hold the record up for ever. What a
   * store did not answer that is away does not count.
   */
  async isOutOfPatience(error: unknown): Promise<boolean> {
    return (
      isTimeout(error) &&
      this.#failed.timeouts >= MAX_TIMEOUTS &&
      !(await outageOf(this.jobContext.system.store).isCauseOf(error))
    );
  }

  /** What the log says of an error; faults are for the operator. */
  told(error: unknown, triggerId: string): string {
    if (error instanceof ActionFailed) return error.message;
    if (!(error instanceof ServiceError)) this.#logFault(error, triggerId);
    return messageOf(error);
  }

  #logFault(error: unknown, triggerId: string): void {
    const { system, parts, isOver } = this.jobContext;
    if (isOver()) return;
    parts.log.error({ err: error, app: system.appId, trigger: triggerId }, 'a trigger met a fault');
  }
}

const noSteps: Steps = () => [];

/** As the job's row has it. */
const textOf = (progress: Progress): string => JSON.stringify(progressState(progress));

/** As ordinary steps: notes of one commit may come in any order. */
function inOrder(steps: readonly Mutation[]): Mutation[] {
  return steps.map((step) => {
    if (step.kind !== 'insert') return step;
    const { isNote: _, ...ordinary } = step;
    return ordinary;
  });
}
