import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import type { Mailer } from '../../mail/index.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { queuedMail } from '../mail/testing/queued.ts';
import type { ActionData, TriggeringRecord } from '../model/model.ts';
import { cause, makeWorld, type World } from '../testing/world.ts';
import { email } from './e-mail.ts';

const pointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });
const mailer = { from: 'CRM <crm@example.com>' } as Mailer;

let world: World;
let accountId: string;
let record: TriggeringRecord;

before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  accountId = await world.create('Accounts', { Name: 'דנה "D" <Cohen>', Email: 'dana@example.com' });
  const id = await world.create('Tickets', {
    Title: 'שלום',
    Html: '<b>5 > 4 & "x"</b>',
    AccountId: pointer('Accounts', accountId),
    CaseId: pointer('Accounts', accountId),
    Bad: 'x@example.com\r\nBcc: evil@example.com',
    Several: ['a@example.com', 'b@example.com'],
    List: 'a@example.com; "B, C" <b@example.com>',
    Empty: '',
  });
  record = await world.read('Tickets', id);
});
after(() => world.close());
beforeEach(() => {
  world.writes.length = 0;
});

const usual = { to: '{{AccountId.Email}}', cc: null, bcc: null, subject: '{{Title}}', html: '<p>{{Html}}</p>' };
const doIt = async (data: Partial<ActionData['e-mail']>, of: TriggeringRecord = record, more: object = {}) => {
  const run = world.run('e-mail', { ...usual, ...data }, of, more);
  await email(run, { ...world.services, mailer });
  const [event, ...others] = world.writes;
  assert.deepEqual([event?.table.className, event?.event, event?.cause, others], ['Emails', 'create', cause, []]);
  const [log] = (await world.all('_syslogTriggers')).filter(({ objectId }) => objectId === run.runId);
  const { fields } = await world.read('Emails', event?.objectId as string);
  const jobs = (await queuedMail(world.store)).filter(({ mail }) => mail.emailId === event?.objectId);
  return { run, row: fields as JsonObject, error: log && JSON.parse((log.error as string) ?? 'null'), jobs };
};

test('the row, the job and the note are one commit; values are escaped in html alone', async () => {
  const { run, row, error, jobs } = await doIt({
    cc: '{{Several}}, "C, D" <c@example.com>',
    bcc: 'Noa <noa@example.com>',
    html: '<p>{{Html}}|{{{Html}}}</p>',
  });
  assert.equal(error, null);
  const html = '<p>&lt;b&gt;5 &gt; 4 &amp; &quot;x&quot;&lt;/b&gt;|<b>5 > 4 & "x"</b></p>';
  assert.match(row.MessageId as string, /^<[0-9a-f-]{36}@example\.com>$/);
  const { objectId: emailId, createdAt, updatedAt, createdBy, updatedBy, ACL, ...rest } = row;
  assert.deepEqual(rest, {
    MailFrom: 'CRM <crm@example.com>',
    MailTo: 'dana@example.com',
    CC: 'a@example.com, b@example.com, "C, D" <c@example.com>',
    BCC: 'Noa <noa@example.com>',
    Subject: 'שלום',
    Content: html,
    SendStatus: 'queued',
    MessageId: row.MessageId,
    // The Pointer in `CaseId` is at another table.
    AccountId: pointer('Accounts', accountId),
  });
  const [job, ...more] = jobs;
  assert.deepEqual(more, []);
  const { message, ...about } = job?.mail ?? assert.fail('nothing is queued');
  assert.deepEqual(about, {
    emailId,
    logId: run.runId,
    trigger: {
      id: run.trigger.id,
      actionId: run.action.id,
      event: 'update',
      className: 'Tickets',
      objectId: record.objectId,
    },
  });
  const { date, ...message1 } = message;
  assert.ok(Math.abs((date ?? 0) - Date.now()) < 60_000);
  assert.deepEqual(message1, {
    to: [{ name: '', address: 'dana@example.com' }],
    cc: [
      { name: '', address: 'a@example.com' },
      { name: '', address: 'b@example.com' },
      { name: 'C, D', address: 'c@example.com' },
    ],
    bcc: [{ name: 'Noa', address: 'noa@example.com' }],
    subject: 'שלום',
    html,
    from: 'CRM <crm@example.com>',
    messageId: row.MessageId,
  });
  assert.deepEqual([job?.job.owner, job?.job.level, job?.job.triggers], [world.store.cluster.processId, 1, [run.trigger.id]]);
});

for (const [what, data, error] of [
  ['nobody', { to: '{{Nothing}}' }, 'There is nobody to send the message to.'],
  ['separators alone', { to: ' ,; ' }, 'There is nobody to send the message to.'],
  ['no address', { to: '{{Title}}' }, '"שלום" is not an e-mail address.'],
  ['a value that is a list', { to: '{{List}}' }, '"a@example.com; "B, C" <b@example.com>" is not an e-mail address.'],
  ['no address among others', { cc: 'a@example.com, {{Title}}' }, '"שלום" is not an e-mail address.'],
  ['a line break of the record', { to: '{{Bad}}' }, '"x@example.com Bcc: evil@example.com" is not an e-mail address.'],
  ['a line break in bcc', { bcc: '{{Bad}}' }, '"x@example.com Bcc: evil@example.com" is not an e-mail address.'],
  [
    'too many',
    { to: Array.from({ length: 101 }, (_, at) => `a${at}@example.com`).join() },
    'The message is for more than 100 recipients.',
  ],
] as const)
  test(`to ${what}: the row says failed, the log has the reason, nothing is queued`, async () => {
    const outcome = await doIt(data);
    assert.deepEqual([outcome.row.SendStatus, outcome.row.ErrorMessage], ['failed', error]);
    assert.deepEqual([outcome.error, outcome.jobs], [error, []]);
  });

test('an empty `to` beside a `cc` is enough', async () => {
  const { row, jobs } = await doIt({ to: '{{Empty}}', cc: 'a@example.com' });
  assert.deepEqual([row.SendStatus, row.MailTo, jobs.length], ['queued', undefined, 1]);
});

test('a subject is one line of bounded length', async () => {
  const { row, jobs } = await doIt({ subject: `{{Bad}}${'x'.repeat(2_000)}` });
  assert.match(row.Subject as string, /^x@example\.com Bcc: evil@example\.comx+$/);
  assert.equal((row.Subject as string).length, 1_000);
  assert.equal(jobs[0]?.mail.message.subject, row.Subject);
});

test('a record that is one of those that mail belongs to is named, unless it is gone', async () => {
  const account = await world.read('Accounts', accountId);
  const to = '{{Email}}';
  assert.deepEqual((await doIt({ to }, account)).row.AccountId, pointer('Accounts', accountId));
  world.writes.length = 0;
  assert.equal((await doIt({ to }, account, { event: 'delete' })).row.AccountId, undefined);
});

test('where the note cannot be, there is neither row nor job', async () => {
  const failing = world.run('e-mail', usual, record, {
    done: (schema) => {
      const table = schema.tables.get('Accounts');
      return table ? [{ kind: 'require', table, filter: { kind: 'never' } }] : [];
    },
  });
  const rows = (await world.all('Emails')).length;
  const jobs = (await queuedMail(world.store)).length;
  await assert.rejects(email(failing, { ...world.services, mailer }), { key: 'objectNotFound' });
  assert.deepEqual([(await world.all('Emails')).length, (await queuedMail(world.store)).length], [rows, jobs]);
});
