import { randomUUID } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { type AddressList, addressesIn, addressesOf, headerText, type ListPiece } from '../../mail/index.ts';
import { createRecord } from '../../records/index.ts';
import { wirePointer } from '../../values/json/wire.ts';
import { mailState, mailTable } from '../mail/queued-mail.ts';
import type { ActionDraft, ActionRun, Perform } from '../model/action.ts';
import { asService } from '../model/action.ts';
import { withSources } from '../model/sources.ts';
import { queueJob } from '../queue/index.ts';
import { fillerFor } from '../templates/template.ts';

type Run = ActionRun<'e-mail'>;

/** Recipients that every mail server accepts for one message (RFC 5321, 4.5.3.1.8). */
export const MAX_RECIPIENTS = 100;
/** Length limits, in characters, of a filled subject and of a list of addresses in the row. */
export const MAX_SUBJECT_LENGTH = 1_000;
const MAX_LIST_LENGTH = 50_000;

/** Pointer fields of `Emails` that link a message to records, and their target tables. */
const links = [
  ['AccountId', 'Accounts'],
  ['ContactId', 'Contacts'],
  ['SaleId', 'Sales'],
  ['CaseId', 'Cases'],
] as const;

/**
 * Adds a message to `Emails` and queues it for sending, in one commit. If an address is invalid or there is no recipient, the row gets the status
 * `failed` and the action's row in `_syslogTriggers` the reason. Does not create the table or its fields.
 * Reference: triggers.md#e-mail.
 * @throws classMissing (103); errors of templates and creates
 */
export const email: Perform<'e-mail'> = async (run, { mailer: { from } }) => {
  const { texts, lists } = await fillIn(run);
  const messageId = `<${randomUUID()}@${hostOf(from)}>`;
  const row = { ...(await rowOf(run, texts)), MailFrom: from, MessageId: messageId };
  const problem = problemOf(lists);
  const context = await withSources({ ...asService(run.reading, mailTable), keepsSchema: true }, mailTable, run.sources);
  if (problem !== null) {
    const failed = { ...row, SendStatus: 'failed', ErrorMessage: problem };
    await createRecord({ ...context, alongside: run.failed(problem) }, mailTable, failed);
    return;
  }
  const { trigger, action, event, record, cause, system } = run;
  const { className, objectId } = record;
  const at = Date.now();
  const [to, cc, bcc] = lists.map(({ addresses }) => addresses) as [Recipients, Recipients, Recipients];
  const message = { to, cc, bcc, subject: texts.subject, html: texts.html, from, messageId, date: at };
  const origin = { id: trigger.id, actionId: action.id, event, className, objectId };
  const queued = { ...row, SendStatus: 'queued' };
  await createRecord({ ...context, alongside: run.done }, mailTable, queued, (schema, emailId) => {
    const state = mailState({ message, emailId, logId: run.runId, trigger: origin });
    return queueJob(schema, {
      kind: 'mail',
      state,
      triggerId: trigger.id,
      event,
      className,
      objectId,
      cause,
      owner: system.store.cluster.processId,
      at,
    });
  });
};

export interface MailTexts {
  readonly to: string;
  readonly cc: string;
  readonly bcc: string;
  readonly subject: string;
  readonly html: string;
}

/** Returns a message with its templates filled, and why it could not be sent (`null` if it could). @throws errors of templates */
export async function mailDraft(
  draft: ActionDraft<'e-mail'>,
): Promise<{ readonly texts: MailTexts; readonly problem: string | null }> {
  const { texts, lists } = await fillIn(draft);
  return { texts, problem: problemOf(lists) };
}

type Recipients = AddressList['addresses'];

/** @returns the texts, and the lists of `to`, `cc` and `bcc`. Each filled-in value counts as one address, never as a list */
async function fillIn(draft: ActionDraft<'e-mail'>): Promise<{ readonly texts: MailTexts; readonly lists: AddressList[] }> {
  const { to, cc, bcc, subject, html } = draft.action.data;
  const filler = fillerFor(draft);
  const pieces = [await filler.pieces(to), await filler.pieces(cc ?? ''), await filler.pieces(bcc ?? '')] as const;
  const texts = {
    to: textOf(pieces[0]),
    cc: textOf(pieces[1]),
    bcc: textOf(pieces[2]),
    subject: headerText(await filler.text(subject))
      .slice(0, MAX_SUBJECT_LENGTH)
      .toWellFormed(),
    html: await filler.html(html),
  };
  return { texts, lists: pieces.map(addressesIn) };
}

const textOf = (pieces: readonly ListPiece[]): string =>
  pieces
    .map((piece) => (typeof piece === 'string' ? piece : piece.join(', ')))
    .join('')
    .trim();

/** Returns why a message cannot be sent to these addresses; `null` if it can. */
function problemOf(lists: readonly AddressList[]): string | null {
  const problem = lists.find((list) => list.invalid !== null);
  if (problem) return `"${problem.invalid}" is not an e-mail address.`;
  const count = lists.reduce((sum, { addresses }) => sum + addresses.length, 0);
  if (count > MAX_RECIPIENTS) return `The message is for more than ${MAX_RECIPIENTS} recipients.`;
  return count === 0 ? 'There is nobody to send the message to.' : null;
}

async function rowOf({ record, event, sources, system }: Run, { to, cc, bcc, subject, html }: MailTexts): Promise<JsonObject> {
  const row: JsonObject = { Subject: subject, Content: html };
  for (const [name, list] of [
    ['MailTo', to],
    ['CC', cc],
    ['BCC', bcc],
  ] as const)
    if (list !== '') row[name] = list.slice(0, MAX_LIST_LENGTH).toWellFormed();
  for (const [name, className] of links) {
    const isOne = record.className === className && event !== 'delete';
    const objectId = isOne ? record.objectId : pointed(record.fields, name, className);
    if (objectId === null) continue;
    if (!isOne) await sources.add(system.store, record.className, record.fields, name);
    row[name] = wirePointer(className, objectId);
  }
  return row;
}

/** Returns the id that a Pointer of the record holds, if it points at the given table. */
function pointed(fields: JsonObject, name: string, className: string): string | null {
  const value = own(fields, name);
  if (!isJsonObject(value) || own(value, '__type') !== 'Pointer' || own(value, 'className') !== className) return null;
  const objectId = own(value, 'objectId');
  return typeof objectId === 'string' ? objectId : null;
}

/** Returns the host for message ids: that of the sender's address. */
function hostOf(from: string): string {
  const address = addressesOf(from).addresses[0]?.address ?? '';
  return domainToASCII(address.slice(address.lastIndexOf('@') + 1)) || 'localhost';
}
