import { isRefusal } from '../../errors/fail.ts';
import { passingFaultOfSystem } from '../../errors/system-faults.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { HOUR_MS, isoText, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import type { MailAttempt, RefusedRecipient } from '../../mail/index.ts';
import { readRow, updateRecord } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import { wireDate } from '../../values/json/wire.ts';
import type { ActionServices, AutomationSystem } from '../model/action.ts';
import { logError } from '../model/trigger-log.ts';
import { queueJob } from '../queue/index.ts';
import type { Attempt, RetryableJob, RetryableWork } from '../queue/retryable-jobs.ts';
import { mailOf, mailState, mailTable, type QueuedMail } from './queued-mail.ts';

type Steps = (schema: Schema) => readonly Mutation[];

/** Delay before each retry, a day in total. Reference: triggers.md#e-mail. */
const RETRY_DELAYS_MS = [
  SECOND_MS,
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  ...Array<number>(23).fill(HOUR_MS),
];

/** Maximum length of `ErrorMessage` in characters. */
export const MAX_ERROR_LENGTH = 2_000;

/**
 * Makes one attempt to send a queued message and records the result in its row of `Emails`. If the message is given up, the action's row in
 * `_syslogTriggers` gets the reason too.
 * Reference: triggers.md#e-mail.
 */
export const deliverMail: RetryableWork = async (system, job, services) => {
  const mail = mailOf(job.state);
  const outcome = await tryOnce(system, job, mail, services);
  // The service is shutting down: no attempt was made, or its outcome is unknown.
  if (outcome.kind === 'ended') return { kind: 'again', delayMs: 0 };
  // The outbox belongs to the machine: if it cannot be written, that is not the message's fault and does not count as an attempt.
  if (outcome.kind === 'away') return { kind: 'again', delayMs: SECOND_MS, isShared: true, isUncounted: true };
  if (outcome.kind === 'kept') return complete(system, job, mail, { SendStatus: 'kept', ErrorMessage: null });
  if (outcome.kind === 'sent') return completeSent(system, job, mail, outcome.refused);
  const why = failureText(mail, outcome.why);
  const delayMs = RETRY_DELAYS_MS[job.attempts];
  if (outcome.permanent || delayMs === undefined) {
    const fields = mail.rest ? { ErrorMessage: why } : { SendStatus: 'failed', ErrorMessage: why };
    return complete(system, job, mail, fields, notSent(mail, why));
  }
  await recordReason(system, job, mail, why);
  return { kind: 'again', delayMs, ...(outcome.isServerFault && { isShared: true }) };
};

/** Returns why a message was not sent. If the server accepted it for some recipients, lists the others with their reasons. */
function failureText({ message: { only = [] }, rest }: QueuedMail, why: string): string {
  return rest ? bounded([...rest.refused, ...only.map((address) => `${address}: ${why}`)]) : why;
}

/** Records that the server accepted the message for some or all recipients. Those refused temporarily get a job of their own. */
function completeSent(
  system: AutomationSystem,
  job: RetryableJob,
  mail: QueuedMail,
  refused: readonly RefusedRecipient[],
): Promise<Attempt> {
  const text = ({ address, why }: RefusedRecipient) => `${address}: ${why}`;
  const temporarilyRefused = refused.filter(({ permanent }) => !permanent);
  const permanentlyRefused = [...(mail.rest?.refused ?? []), ...refused.filter(({ permanent }) => permanent).map(text)];
  const all = [...permanentlyRefused, ...temporarilyRefused.map(text)];
  const reasons = all.length > 0 ? bounded(all) : null;
  const sent: JsonObject = mail.rest ? {} : { SendStatus: 'sent', SendAt: wireDate(isoText(Date.now())) };
  const more: Steps = (schema) => [
    ...(permanentlyRefused.length > 0 ? notSent(mail, bounded(permanentlyRefused))(schema) : []),
    ...(temporarilyRefused.length > 0 ? queueRest(system, job, mail, { temporarilyRefused, permanentlyRefused }, schema) : []),
  ];
  return complete(system, job, mail, { ...sent, ErrorMessage: reasons }, more);
}

function queueRest(
  { store }: AutomationSystem,
  { cause }: RetryableJob,
  mail: QueuedMail,
  {
    temporarilyRefused,
    permanentlyRefused,
  }: { temporarilyRefused: readonly RefusedRecipient[]; permanentlyRefused: readonly string[] },
  schema: Schema,
): readonly Mutation[] {
  const message = { ...mail.message, only: temporarilyRefused.map(({ address }) => address) };
  const state = mailState({ ...mail, message, rest: { refused: permanentlyRefused } });
  const { id: triggerId, event, className, objectId } = mail.trigger;
  const owner = store.cluster.processId;
  return queueJob(schema, { kind: 'mail', state, triggerId, event, className, objectId, cause, owner, at: Date.now() });
}

const notSent =
  ({ logId }: QueuedMail, why: string): Steps =>
  (schema) =>
    logError(schema, logId, why);

/** Completes the job in the commit that updates the row in `Emails`, or in a separate one if that row is gone or rejects the values. */
async function complete(
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
  unrecordedResults.delete(keyOf(system, job));
  return attempt;
}

const reasonAlone = ['ErrorMessage'] as const;

/** Records the reason of the last failure in the row, if possible. */
async function recordReason(
  system: AutomationSystem,
  { reading }: RetryableJob,
  { emailId }: QueuedMail,
  why: string,
): Promise<void> {
  try {
    const row = await readRow<{ ErrorMessage?: string }>(system.store, mailTable, reasonAlone, emailId);
    const fields = knownFields(system, { ErrorMessage: why });
    if (row && row.ErrorMessage !== why && Object.keys(fields).length > 0)
      await updateRecord(reading, mailTable, emailId, fields);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

/** Drops fields that the table lacks, because an update would create them. */
function knownFields({ store }: AutomationSystem, fields: JsonObject): JsonObject {
  const known = store.schema().tables.get(mailTable)?.fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => known?.has(name)));
}

/**
 * Results of messages that were handed over, by system and job, until they are recorded. They prevent a second delivery if the database is
 * unavailable at that moment.
 */
const unrecordedResults = new Map<string, MailAttempt>();
const MAX_UNRECORDED = 100_000;
const keyOf = ({ appId }: AutomationSystem, { id }: RetryableJob): string => `${appId} ${id}`;

async function tryOnce(
  system: AutomationSystem,
  job: RetryableJob,
  { message, emailId }: QueuedMail,
  { mailer, log, conditions }: ActionServices,
): Promise<MailAttempt | { readonly kind: 'away' }> {
  const key = keyOf(system, job);
  const before = unrecordedResults.get(key);
  if (before) return before;
  try {
    const outcome = await mailer.attempt(message, system.appId);
    if (outcome.kind === 'kept') conditions.over(outboxFault);
    if (outcome.kind === 'sent' || outcome.kind === 'kept') unrecordedResults.set(key, outcome);
    // Bounds the map: some entries may belong to jobs that another process has taken over.
    if (unrecordedResults.size > MAX_UNRECORDED) unrecordedResults.delete(unrecordedResults.keys().next().value as string);
    return outcome;
  } catch (error) {
    const fault = passingFaultOfSystem(error);
    if (fault) {
      conditions.met(fault, outboxFault);
      return { kind: 'away' };
    }
    // The error's text is not logged, since it may contain addresses.
    const { name, code } = error as NodeJS.ErrnoException;
    log.error({ app: system.appId, email: emailId, error: name, code }, 'a message could be neither sent nor kept');
    return { kind: 'failed', permanent: false, why: 'The message could not be sent.' };
  }
}

const outboxFault = { place: 'the mail box' };

function bounded(reasons: readonly string[]): string {
  const text = reasons.join('; ');
  return text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH).toWellFormed()}…` : text;
}
