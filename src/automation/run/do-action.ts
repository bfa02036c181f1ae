import { master } from '../../access/index.ts';
import { isPassing } from '../../errors/fail.ts';
import { newRowId } from '../../kernel/ids.ts';
import type { Cause, RecordContext } from '../../records/index.ts';
import { type Authority, authorityOver } from '../matching/authority.ts';
import type { ActionRun } from '../model/action.ts';
import type { Action, Trigger } from '../model/model.ts';
import { Sources } from '../model/sources.ts';
import { withAdaptiveLimit } from './adaptive-concurrency.ts';
import { commit, endedMessage, givenUpMessage, JobLost, JobPaused, type Steps } from './outcome.ts';
import type { Progress, Started } from './progress.ts';
import type { WriteRun } from './write-job.ts';

/** Starts of an action that were interrupted by the end of their process, after which it is given up: the action may be the cause. */
export const MAX_INTERRUPTED_STARTS = 5;

/**
 * Executes an action. Its writes, its row in the log and its completion are one commit; so are the row of an error and the completion.
 * @param after the progress of the job afterwards; `null` at its end
 * @throws JobLost, JobPaused
 */
export async function doAction(job: WriteRun, trigger: Trigger, action: Action, after: Progress | null): Promise<void> {
  const { store } = job.jobContext.system;
  const at = Date.now();
  const isCall = action.type === 'server-side-code' && !action.data.useQueue;
  const start = isCall ? nextStart(job, at) : { runId: newRowId(at), attempts: 1, ends: 0 };
  const sources = new Sources();
  // A queued message may fail later, so its row always gets the sources.
  const needsSources = (error: string | null) => error !== null || action.type === 'e-mail';
  const row =
    (error: string | null): Steps =>
    (schema) =>
      job.logSteps({
        ...{ id: start.runId, at, triggerId: trigger.id, actionId: action.id, error },
        sources: needsSources(error) ? sources.text() : null,
      })(schema);
  const end = (error: string | null): Steps => job.stepsTo(after, row(error));
  if (start.ends >= MAX_INTERRUPTED_STARTS) return commit(store, end(givenUpMessage));
  const work = { trigger, action, start, sources, end };
  if (!isCall) return write(job, work);
  const { calls } = job.jobContext;
  try {
    const isRecorded = !calls.resultOf(start.runId) && (await call(job, work, at));
    if (!isRecorded) await commit(store, end(calls.resultOf(start.runId)?.error ?? null));
    calls.forget(start.runId);
  } catch (error) {
    if (error instanceof JobLost) calls.forget(start.runId);
    throw error;
  }
}

/** An action in progress. */
interface Work {
  readonly trigger: Trigger;
  readonly action: Action;
  readonly start: Started;
  readonly sources: Sources;
  /** Mutations that record its end, with its error or `null`. */
  readonly end: (error: string | null) => Steps;
}

/** Returns the start to record for a call, or for one that has ended already. */
function nextStart({ jobContext, progress: { started } }: WriteRun, at: number): Started {
  if (!started) return { runId: newRowId(at), attempts: 1, ends: 0 };
  const { runId, attempts, ends } = started;
  return { runId, attempts: attempts + 1, ends: ends + (jobContext.calls.isOwn(runId) ? 0 : 1) };
}

/** Executes an action that writes; the commit of its last write completes it. @throws JobLost, JobPaused */
async function write(job: WriteRun, work: Work): Promise<void> {
  const { store } = job.jobContext.system;
  const completion = new Completion(work.end);
  const execute = async () => {
    const run = await runOf(job, work, completion);
    await withAdaptiveLimit(store, job.job.queuedAt, () => inTurn(job, run));
    if (work.action.type === 'e-mail' || work.action.type === 'server-side-code') job.jobContext.queued();
    // The action found nothing to write.
    if (!completion.isRecorded) await commit(store, run.done);
  };
  await attempt(job, work, execute, (error) => commit(store, work.end(error)));
}

/** Mutations that record the end of an action, and whether a commit included them. */
class Completion {
  isRecorded = false;
  readonly #end: Work['end'];

  constructor(end: Work['end']) {
    this.#end = end;
  }

  steps(error: string | null): Steps {
    return (schema) => {
      this.isRecorded = true;
      return this.#end(error)(schema);
    };
  }
}

/**
 * Calls a function, which may take long; the order of other writes does not depend on it.
 * @returns whether a write of the function's action recorded the end; otherwise the result is remembered and still to be recorded
 * @throws JobLost, JobPaused
 */
async function call(job: WriteRun, work: Work, at: number): Promise<boolean> {
  const { services, calls } = job.jobContext;
  const { start, trigger, action } = work;
  const wasInterrupted = start.attempts > 1 && !calls.isOwn(start.runId);
  const interruptedRow = { id: newRowId(at), at, triggerId: trigger.id, actionId: action.id, error: endedMessage };
  // Before the commit: if its outcome is unknown, it may have taken effect.
  calls.begin(start.runId);
  await job.recordStart(start, wasInterrupted ? job.logSteps(interruptedRow) : () => []);
  const completion = new Completion(work.end);
  const execute = async () => {
    await services.perform(await runOf(job, work, completion), services);
    calls.end(start.runId, null);
  };
  await attempt(job, work, execute, async (error) => calls.end(start.runId, error));
  return completion.isRecorded;
}

/**
 * Makes an attempt at an action.
 * @param fail called with the log text of an error that is not transient
 * @throws JobLost, JobPaused
 */
async function attempt(
  job: WriteRun,
  { trigger }: Work,
  work: () => Promise<void>,
  fail: (error: string) => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof JobLost || error instanceof JobPaused) throw error;
    if (isPassing(error) && !(await job.hasTooManyTimeouts(error)))
      throw new JobPaused('an action could not be done', { cause: error });
    await fail(job.messageFor(error, trigger.id));
  }
}

/** The shutdown may begin while the action waits for its turn. */
async function inTurn({ jobContext: { shouldStop, services } }: WriteRun, run: ActionRun): Promise<void> {
  if (shouldStop()) throw new JobPaused('the service ends');
  await services.perform(run, services);
}

async function runOf(job: WriteRun, { trigger, action, start, sources }: Work, completion: Completion): Promise<ActionRun> {
  const authority = await currentAuthority(job, trigger);
  const done = completion.steps(null);
  const own = { runId: start.runId, attempt: start.attempts, sources, done, failed: (error: string) => completion.steps(error) };
  return actionRun(job, trigger, action, authority, own);
}

/** Returns the author's current rights, since the previous action may have taken long. The names of hidden fields are those of the current schema. */
async function currentAuthority({ jobContext: { system }, record }: WriteRun, trigger: Trigger): Promise<Authority> {
  for (;;) {
    const authority = await authorityOver(system, trigger, record);
    if (authority.schema === system.store.schema()) return authority;
  }
}

function actionRun(
  { jobContext, job, record }: WriteRun,
  trigger: Trigger,
  action: Action,
  { principal, hidden }: Authority,
  own: Pick<ActionRun, 'runId' | 'attempt' | 'sources' | 'done' | 'failed'>,
): ActionRun {
  const { system, services } = jobContext;
  const cause: Cause = { triggerId: trigger.id, level: job.level, source: job.source ?? trigger.id, chain: job.chain };
  const { appId, store } = system;
  const reading: RecordContext = { appId, store, principal, actor: master, hooks: services.hooks, referer: null, cause };
  const context: RecordContext = { ...reading, alongside: own.done };
  return { system, trigger, action, event: job.event, record: record.copy(hidden), cause, context, reading, ...own };
}
