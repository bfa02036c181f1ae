import { isRefusal } from '../../errors/fail.ts';
import { passingFaultOfSystem } from '../../errors/system-faults.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { HOUR_MS, isoText, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import type { MailAttempt, RefusedRecipient } from '../../mail/index.ts';
import { readRow, updateRecord } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import { wireDate } from '../../values/json/wire.ts';
import type { ActionParts, AutomationSystem } from '../model/action.ts';
import { logError } from '../model/trigger-log.ts';
import { queueJob } from '../queue/index.ts';
import type { Attempt, RetryableJob, RetryableWork } from '../queue/retryable-jobs.ts';
import { mailOf, mailTable, type QueuedMail, stateOf } from './queued-mail.ts';

type Steps = (schema: Schema) => readonly Mutation[];

/** Milliseconds before each attempt but the first: a day in all (docs/decisions.md "Triggers": `e-mail`). */
const pauses = [
  SECOND_MS,
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  ...Array<number>(23).fill(HOUR_MS),
];

/** Characters of `ErrorMessage`. */
const MAX_ERROR_LENGTH = 2_000;

/**
 * Tries once to send a message that was queued, and tells its row in `Emails` what came of it (CONTRACT "Triggers": `e-mail`). Where it is
 * not to be sent, the action's row in `_syslogTriggers` has the reason too.
 */
export const deliverMail: RetryableWork = async (system, job, parts) => {
  const mail = mailOf(job.state);
  const outcome = await tryOnce(system, job, mail, parts);
  // It was none, or one that nobody knows the end of.
  if (outcome.kind === 'ended') return { kind: 'again', pause: 0 };
  // The box is the machine's own: what keeps it from being written is no fault of the message, however long it lasts.
  if (outcome.kind === 'away') return { kind: 'again', pause: SECOND_MS, isShared: true, isUncounted: true };
  if (outcome.kind === 'kept') return settle(system, job, mail, { SendStatus: 'kept', ErrorMessage: null });
  if (outcome.kind === 'sent') return settleSent(system, job, mail, outcome.refused);
  const why = whyNotAll(mail, outcome.why);
  const pause = pauses[job.attempts];
  if (outcome.permanent || pause === undefined) {
    const fields = mail.rest ? { ErrorMessage: why } : { SendStatus: 'failed', ErrorMessage: why };
    return settle(system, job, mail, fields, notSent(mail, why));
  }
  await tellWhy(system, job, mail, why);
  return { kind: 'again', pause, ...(outcome.isServerFault && { isShared: true }) };
};

/** Why a message did not go out; where others got it, who did not, and why. */
function whyNotAll({ message: { only = [] }, rest }: QueuedMail, why: string): string {
  return rest ? bounded([...rest.refused, ...only.map((address) => `${address}: ${why}`)]) : why;
}

/** The server took it for all, or for some. Those whom it refused for now have a job of their own. */
function settleSent(
  system: AutomationSystem,
  job: RetryableJob,
  mail: QueuedMail,
  refused: readonly RefusedRecipient[],
): Promise<Attempt> {
  const text = ({ address, why }: RefusedRecipient) => `${address}: ${why}`;
  const left = refused.filter(({ permanent }) => !permanent);
  const forGood = [...(mail.rest?.refused ?? []), ...refused.filter(({ permanent }) => permanent).map(text)];
  const all = [...forGood, ...left.map(text)];
  const told = all.length > 0 ? bounded(all) : null;
  const sent: JsonObject = mail.rest ? {} : { SendStatus: 'sent', SendAt: wireDate(isoText(Date.now())) };
  const more: Steps = (schema) => [
    ...(forGood.length > 0 ? notSent(mail, bounded(forGood))(schema) : []),
    ...(left.length > 0 ? queueRest(system, job, mail, { left, forGood }, schema) : []),
  ];
  return settle(system, job, mail, { ...sent, ErrorMessage: told }, more);
}

function queueRest(
  { store }: AutomationSystem,
  { cause }: RetryableJob,
  mail: QueuedMail,
  { left, forGood }: { left: readonly RefusedRecipient[]; forGood: readonly string[] },
  schema: Schema,
): readonly Mutation[] {
  const message = { ...mail.message, only: left.map(({ address }) => address) };
  const state = stateOf({ ...mail, message, rest: { refused: forGood } });
  const { id: triggerId, event, className, objectId } = mail.trigger;
  const owner = store.cluster.processId;
  return queueJob(schema, { kind: 'mail', state, triggerId, event, className, objectId, cause, owner, at: Date.now() });
}

const notSent =
  ({ logId }: QueuedMail, why: string): Steps =>
  (schema) =>
    logError(schema, logId, why);

/** Ends the job in the commit that changes the row in `Emails`, or without where that is gone or does not take the values. */
async function settle(
  system: AutomationSystem,
  job: RetryableJob,
  { emailId }: QueuedMail,
  fields: JsonObject,
  more: Steps = () => [],
): Promise<Attempt> {
  const context = { ...job.reading, alongside: (schema: Schema) => [...more(schema), ...job.done(schema)] };
  const attempt: Attempt = await updateRecord(context, mailTable, emailId, knownFields(system, fields)).then(
    () => ({ kind: 'done', committed: true }),
    (error: unknown) => {
      if (!isRefusal(error)) throw error;
      return { kind: 'done', steps: more };
    },
  );
  settled.delete(keyOf(system, job));
  return attempt;
}

const reasonAlone = ['ErrorMessage'] as const;

/** Leaves the reason of the last attempt in the row, as far as that can be. */
async function tellWhy(system: AutomationSystem, { reading }: RetryableJob, { emailId }: QueuedMail, why: string): Promise<void> {
  try {
    const row = await readRow<{ ErrorMessage?: string }>(system.store, mailTable, reasonAlone, emailId);
    const fields = knownFields(system, { ErrorMessage: why });
    if (row && row.ErrorMessage !== why && Object.keys(fields).length > 0)
      await updateRecord(reading, mailTable, emailId, fields);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** An update would make fields that are missing. */
function knownFields({ store }: AutomationSystem, fields: JsonObject): JsonObject {
  const known = store.schema().tables.get(mailTable)?.fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => known?.has(name)));
}

/**
 * What became of messages that were handed over, until it is noted: should the database be away just then, they are not sent again. By system
 * and job.
 */
const settled = new Map<string, MailAttempt>();
const MAX_SETTLED = 100_000;
const keyOf = ({ appId }: AutomationSystem, { id }: RetryableJob): string => `${appId} ${id}`;

async function tryOnce(
  system: AutomationSystem,
  job: RetryableJob,
  { message, emailId }: QueuedMail,
  { mailer, log, conditions }: ActionParts,
): Promise<MailAttempt | { readonly kind: 'away' }> {
  const key = keyOf(system, job);
  const before = settled.get(key);
  if (before) return before;
  try {
    const outcome = await mailer.attempt(message, system.appId);
    if (outcome.kind === 'kept') conditions.over(aboutBox);
    if (outcome.kind === 'sent' || outcome.kind === 'kept') settled.set(key, outcome);
    // Some may be of jobs that another process has taken over.
    if (settled.size > MAX_SETTLED) settled.delete(settled.keys().next().value as string);
    return outcome;
  } catch (error) {
    const fault = passingFaultOfSystem(error);
    if (fault) {
      conditions.met(fault, aboutBox);
      return { kind: 'away' };
    }
    // Its text may hold addresses.
    const { name, code } = error as NodeJS.ErrnoException;
    log.error({ app: system.appId, email: emailId, error: name, code }, 'a message could be neither sent nor kept');
    return { kind: 'failed', permanent: false, why: 'The message could not be sent.' };
  }
}

const aboutBox = { place: 'the mail box' };

function bounded(reasons: readonly string[]): string {
  const text = reasons.join('; ');
  return text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH).toWellFormed()}…` : text;
}
