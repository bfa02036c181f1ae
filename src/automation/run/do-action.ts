import { master } from '../../access/index.ts';
import { newRowId } from '../../audit/index.ts';
import { isPassing } from '../../errors/fail.ts';
import type { Cause, RecordContext } from '../../records/index.ts';
import type { ActionRun } from '../actions/action.ts';
import type { Action, Trigger } from '../model.ts';
import { Sources } from '../sources.ts';
import { type Authority, authorityOver } from './authority.ts';
import { commit, endedMessage, givenUpMessage, JobLost, JobPaused, type Steps } from './outcome.ts';
import type { Progress } from './progress.ts';
import { inShare } from './share.ts';
import type { WriteRun } from './write-job.ts';

/** Starts of an action that ended with their process. It may be the action that ends it. */
const MOST_STARTS = 5;

/**
 * Does an action: what it writes, its row in the log and the note that it is done are one commit; so are its error's row and the note.
 * @param after where the job is then; `null` at its end
 * @throws JobLost, JobPaused
 */
export async function doAction(job: WriteRun, trigger: Trigger, action: Action, after: Progress | null): Promise<void> {
  const { parts, system } = job.place;
  const at = Date.now();
  const isNoted = action.type === 'server-side-code' && !action.data.useQueue;
  const before = isNoted ? job.progress.started : null;
  const runId = before?.runId ?? newRowId(at);
  const attempt = (before?.attempts ?? 0) + 1;
  const sources = new Sources();
  // What is told of later, of a message, is an error too.
  const tells = (error: string | null) => error !== null || action.type === 'e-mail';
  const row =
    (error: string | null): Steps =>
    (schema) =>
      job.logSteps({
        ...{ id: runId, at, triggerId: trigger.id, actionId: action.id, error },
        sources: tells(error) ? sources.text() : null,
      })(schema);
  const end = (error: string | null): Steps => job.stepsTo(after, row(error));

  if (attempt > MOST_STARTS) return commit(system.store, end(givenUpMessage));
  if (isNoted) {
    // After a pause in this process the failure was another.
    const ended = { id: newRowId(at), at, triggerId: trigger.id, actionId: action.id, error: endedMessage };
    await job.noteStart({ runId, attempts: attempt }, attempt > 1 && job.failures === 0 ? job.logSteps(ended) : () => []);
  }
  let isCommitted = false;
  const noting =
    (steps: Steps): Steps =>
    (schema) => {
      isCommitted = true;
      return steps(schema);
    };
  const done = noting(end(null));
  try {
    // His rights of now, since the last action may have taken its time.
    const authority = await authorityOver(system, trigger, job.record);
    const own = { runId, attempt, sources, done, failed: (error: string) => noting(end(error)) };
    const run = actionRun(job, trigger, action, authority, own);
    // A function may take its time, and others may write meanwhile.
    await (isNoted ? parts.perform(run, parts) : inShare(system.store, job.job.queuedAt, () => inTurn(job, run)));
    if (action.type === 'e-mail' || action.type === 'server-side-code') job.place.queued();
    // One that found nothing to write.
    if (!isCommitted) await commit(system.store, done);
  } catch (error) {
    if (error instanceof JobLost || error instanceof JobPaused) throw error;
    if (isPassing(error) && !job.isOutOfPatience(error)) throw new JobPaused('an action could not be done', { cause: error });
    await commit(system.store, end(job.told(error, trigger.id)));
  }
}

/** Its turn may come when the service ends. */
async function inTurn({ place: { isEnough, parts } }: WriteRun, run: ActionRun): Promise<void> {
  if (isEnough()) throw new JobPaused('the service ends');
  await parts.perform(run, parts);
}

function actionRun(
  { place, job, record }: WriteRun,
  trigger: Trigger,
  action: Action,
  { principal, hidden }: Authority,
  own: Pick<ActionRun, 'runId' | 'attempt' | 'sources' | 'done' | 'failed'>,
): ActionRun {
  const { system, parts } = place;
  const cause: Cause = { triggerId: trigger.id, level: job.level, source: job.source ?? trigger.id, chain: job.chain };
  const { appId, store } = system;
  const reading: RecordContext = { appId, store, principal, actor: master, hooks: parts.hooks, referer: null, cause };
  const context: RecordContext = { ...reading, alongside: own.done };
  return { system, trigger, action, event: job.event, record: record.copy(hidden), cause, context, reading, ...own };
}
