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

/** Starts of an action that ended with their process. It may be the action that ends it. */
const MAX_INTERRUPTED_STARTS = 5;

/**
 * Does an action: what it writes, its row in the log and the note that it is done are one commit; so are its error's row and the note.
 * @param after where the job is then; `null` at its end
 * @throws JobLost, JobPaused
 */
export async function doAction(job: WriteRun, trigger: Trigger, action: Action, after: Progress | null): Promise<void> {
  const { store } = job.jobContext.system;
  const at = Date.now();
  const isCall = action.type === 'server-side-code' && !action.data.useQueue;
  const start = isCall ? nextStart(job, at) : { runId: newRowId(at), attempts: 1, ends: 0 };
  const sources = new Sources();
  // What is told of later, of a message, is an error too.
  const tells = (error: string | null) => error !== null || action.type === 'e-mail';
  const row =
    (error: string | null): Steps =>
    (schema) =>
      job.logSteps({
        ...{ id: start.runId, at, triggerId: trigger.id, actionId: action.id, error },
        sources: tells(error) ? sources.text() : null,
      })(schema);
  const end = (error: string | null): Steps => job.stepsTo(after, row(error));
  if (start.ends >= MAX_INTERRUPTED_STARTS) return commit(store, end(givenUpMessage));
  const work = { trigger, action, start, sources, end };
  if (!isCall) return write(job, work);
  const { calls } = job.jobContext;
  try {
    const isNoted = !calls.endingOf(start.runId) && (await call(job, work, at));
    if (!isNoted) await commit(store, end(calls.endingOf(start.runId)?.error ?? null));
    calls.forget(start.runId);
  } catch (error) {
    if (error instanceof JobLost) calls.forget(start.runId);
    throw error;
  }
}

/** An action that is done. */
interface Work {
  readonly trigger: Trigger;
  readonly action: Action;
  readonly start: Started;
  readonly sources: Sources;
  /** The steps that note its end, with its error or `null`. */
  readonly end: (error: string | null) => Steps;
}

/** What is noted of the next start of a call, or of the one that has ended already. */
function nextStart({ jobContext, progress: { started } }: WriteRun, at: number): Started {
  if (!started) return { runId: newRowId(at), attempts: 1, ends: 0 };
  const { runId, attempts, ends } = started;
  return { runId, attempts: attempts + 1, ends: ends + (jobContext.calls.isOwn(runId) ? 0 : 1) };
}

/** Does an action that writes: the commit of what it writes is its end. @throws JobLost, JobPaused */
async function write(job: WriteRun, work: Work): Promise<void> {
  const { store } = job.jobContext.system;
  const ending = new Ending(work.end);
  const doIt = async () => {
    const run = await runOf(job, work, ending);
    await withAdaptiveLimit(store, job.job.queuedAt, () => inTurn(job, run));
    if (work.action.type === 'e-mail' || work.action.type === 'server-side-code') job.jobContext.queued();
    // One that found nothing to write.
    if (!ending.isNoted) await commit(store, run.done);
  };
  await attempt(job, work, doIt, (error) => commit(store, work.end(error)));
}

/** The steps that note the end of an action, and whether a commit has had them. */
class Ending {
  isNoted = false;
  readonly #end: Work['end'];

  constructor(end: Work['end']) {
    this.#end = end;
  }

  steps(error: string | null): Steps {
    return (schema) => {
      this.isNoted = true;
      return this.#end(error)(schema);
    };
  }
}

/**
 * Calls a function, which may take its time, and others may write meanwhile.
 * @returns whether its end was noted with what it wrote; else it is remembered, and still to be noted
 * @throws JobLost, JobPaused
 */
async function call(job: WriteRun, work: Work, at: number): Promise<boolean> {
  const { parts, calls } = job.jobContext;
  const { start, trigger, action } = work;
  const wasCut = start.attempts > 1 && !calls.isOwn(start.runId);
  const ended = { id: newRowId(at), at, triggerId: trigger.id, actionId: action.id, error: endedMessage };
  // Before it is noted: a commit whose end nobody knows may have been carried out.
  calls.begin(start.runId);
  await job.noteStart(start, wasCut ? job.logSteps(ended) : () => []);
  const ending = new Ending(work.end);
  const doIt = async () => {
    await parts.perform(await runOf(job, work, ending), parts);
    calls.end(start.runId, null);
  };
  await attempt(job, work, doIt, async (error) => calls.end(start.runId, error));
  return ending.isNoted;
}

/**
 * Tries an action.
 * @param fail is told what the log says of an error that will not pass
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
    if (isPassing(error) && !(await job.isOutOfPatience(error)))
      throw new JobPaused('an action could not be done', { cause: error });
    await fail(job.told(error, trigger.id));
  }
}

/** Its turn may come when the service ends. */
async function inTurn({ jobContext: { isEnough, parts } }: WriteRun, run: ActionRun): Promise<void> {
  if (isEnough()) throw new JobPaused('the service ends');
  await parts.perform(run, parts);
}

async function runOf(job: WriteRun, { trigger, action, start, sources }: Work, ending: Ending): Promise<ActionRun> {
  // His rights of now, since the last action may have taken its time.
  const authority = await authorityOver(job.jobContext.system, trigger, job.record);
  const done = ending.steps(null);
  const own = { runId: start.runId, attempt: start.attempts, sources, done, failed: (error: string) => ending.steps(error) };
  return actionRun(job, trigger, action, authority, own);
}

function actionRun(
  { jobContext, job, record }: WriteRun,
  trigger: Trigger,
  action: Action,
  { principal, hidden }: Authority,
  own: Pick<ActionRun, 'runId' | 'attempt' | 'sources' | 'done' | 'failed'>,
): ActionRun {
  const { system, parts } = jobContext;
  const cause: Cause = { triggerId: trigger.id, level: job.level, source: job.source ?? trigger.id, chain: job.chain };
  const { appId, store } = system;
  const reading: RecordContext = { appId, store, principal, actor: master, hooks: parts.hooks, referer: null, cause };
  const context: RecordContext = { ...reading, alongside: own.done };
  return { system, trigger, action, event: job.event, record: record.copy(hidden), cause, context, reading, ...own };
}
