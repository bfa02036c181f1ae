import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import type { MailAttempt, Mailer, MailMessage } from '../../mail/index.ts';
import { createLog } from '../../observe/index.ts';
import { deleteRecord, type RecordContext, updateRecord } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { email } from '../actions/e-mail.ts';
import type { TriggeringRecord } from '../model/model.ts';
import { removeJob } from '../queue/index.ts';
import type { Attempt, RetryableJob } from '../queue/retryable-jobs.ts';
import { cause, makeWorld, type World } from '../testing/world.ts';
import { deliverMail } from './deliver.ts';
import { queuedMail } from './testing/queued.ts';

let world: World;
let record: TriggeringRecord;
let answers: (MailAttempt | Error)[];
let tried: MailMessage[];

const mailer = {
  from: 'crm@example.com',
  attempt: async (message: MailMessage) => {
    tried.push(message);
    const answer = answers.shift() ?? { kind: 'sent', refused: [] };
    if (answer instanceof Error) throw answer;
    return answer;
  },
} as unknown as Mailer;

before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  record = await world.read('Tickets', await world.create('Tickets', { Title: 'a' }));
});
after(() => world.close());
beforeEach(async () => {
  answers = [];
  tried = [];
  for (const { objectId } of await world.all('Emails')) await deleteRecord(world.master, 'Emails', objectId as string, {});
  world.writes.length = 0;
});

/** Queues a message. @returns the id of the action's row in the log */
async function queue(to = 'dana@example.com'): Promise<string> {
  const run = world.run('e-mail', { to, cc: null, bcc: null, subject: 's', html: 'h' }, record);
  await email(run, { ...world.services, mailer });
  world.writes.length = 0;
  return run.runId;
}

/** Processes the oldest job as the runner does. */
async function work(attempts = 0, store: Store = world.store): Promise<Attempt> {
  const [queued] = await queuedMail(world.store);
  const { job, mail } = queued ?? assert.fail('nothing is queued');
  const done: RetryableJob['done'] = (schema) => removeJob(schema, job);
  const reading: RecordContext = { ...world.master, store, cause };
  const context = { ...reading, alongside: done };
  const state = mail as unknown as JsonObject;
  const later = { id: job.id, state, attempts, queuedAt: job.queuedAt, cause, done, context, reading };
  const attempt = await deliverMail({ ...world.system, store }, later, { ...world.services, mailer });
  if (attempt.kind === 'again' || (attempt.kind === 'done' && attempt.committed)) return attempt;
  const steps = attempt.steps ?? (() => []);
  await world.store.write({ plan: (schema) => ({ changes: [], mutations: [...removeJob(schema, job), ...steps(schema)] }) });
  return attempt;
}

const rowNow = async () => {
  const [row] = await world.all('Emails');
  return [row?.SendStatus, row?.ErrorMessage, row?.SendAt !== undefined];
};
const errorOf = async (runId: string) => (await world.all('_syslogTriggers')).find(({ objectId }) => objectId === runId)?.error;
const failed = (permanent: boolean, why: string): MailAttempt => ({ kind: 'failed', permanent, why });

test('a fault of the server is one of all messages; an attempt that was cut changes nothing', async () => {
  await queue();
  answers = [{ kind: 'failed', permanent: false, why: 'away', isServerFault: true }, { kind: 'ended' }];
  assert.deepEqual(await work(), { kind: 'again', delayMs: 1_000, isShared: true });
  const row = await rowNow();
  assert.deepEqual(row, ['queued', 'away', false]);
  assert.deepEqual(await work(1), { kind: 'again', delayMs: 0 });
  assert.deepEqual(await rowNow(), row);
  assert.deepEqual(await work(1), { kind: 'done', committed: true });
});

test('sent: the row says so, under the cause, in the commit that ends the job', async () => {
  const runId = await queue();
  assert.deepEqual(await work(), { kind: 'done', committed: true });
  assert.deepEqual(await rowNow(), ['sent', undefined, true]);
  assert.deepEqual(await queuedMail(world.store), []);
  assert.deepEqual(
    world.writes.map((write) => [write.event, write.table.className, write.cause, write.principal.kind]),
    [['update', 'Emails', cause, 'master']],
  );
  assert.equal(await errorOf(runId), undefined);
});

test('kept: the row says so', async () => {
  await queue();
  answers = [{ kind: 'kept', file: 'a.eml' }];
  await work();
  assert.deepEqual(await rowNow(), ['kept', undefined, false]);
  assert.deepEqual(await queuedMail(world.store), []);
});

test('refused: the row and the log have the reason', async () => {
  const runId = await queue();
  answers = [failed(true, '550 no such user')];
  await work();
  assert.deepEqual(await rowNow(), ['failed', '550 no such user', false]);
  assert.equal(await errorOf(runId), '"550 no such user"');
  assert.deepEqual(await queuedMail(world.store), []);
});

test('faults that may pass are tried again for a day, with one Message-ID; the row has the last reason', async () => {
  const runId = await queue();
  const pauses: number[] = [];
  for (let attempts = 0; ; attempts++) {
    const why = attempts < 3 ? '451 later' : '452 full';
    answers = [failed(false, why)];
    const attempt = await work(attempts);
    if (attempt.kind !== 'again') break;
    pauses.push(attempt.delayMs);
    assert.deepEqual(await rowNow(), ['queued', why, false]);
  }
  assert.deepEqual(pauses.slice(0, 7), [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]);
  const total = pauses.reduce((sum, pause) => sum + pause, 0);
  assert.ok(total > 23 * 3_600_000 && total <= 24 * 3_600_000, `${total}`);
  assert.deepEqual(await rowNow(), ['failed', '452 full', false]);
  assert.equal(await errorOf(runId), '"452 full"');
  assert.equal(new Set(tried.map(({ messageId }) => messageId)).size, 1);
  assert.equal(new Set(tried.map(({ date }) => date)).size, 1);
  // As queued, each reason once, failed.
  assert.equal(world.writes.length, 3);
});

test('a fault that passes: sent, and the reason is gone', async () => {
  await queue();
  answers = [failed(false, '451 later')];
  await work();
  await work(1);
  assert.deepEqual(await rowNow(), ['sent', undefined, true]);
});

test('what the row says by then is of no account, nor whether it is there', async () => {
  await queue();
  const [{ objectId } = { objectId: '' }] = await world.all('Emails');
  await updateRecord(world.master, 'Emails', objectId as string, { MailTo: 'other@example.com', Content: 'x' });
  answers = [failed(false, '451 later')];
  await work();
  await deleteRecord(world.master, 'Emails', objectId as string, {});
  world.writes.length = 0;
  answers = [failed(false, '451 later')];
  await work(1);
  await work(2);
  assert.deepEqual(
    tried.map(({ to, html }) => [to, html]),
    Array(3).fill([[{ name: '', address: 'dana@example.com' }], 'h']),
  );
  assert.deepEqual([await queuedMail(world.store), world.writes], [[], []]);
});

test('some are refused for good, some for now: these alone are tried again', async () => {
  const runId = await queue('a@example.com, b@example.com, c@example.com');
  answers = [
    {
      kind: 'sent',
      refused: [
        { address: 'b@example.com', permanent: true, why: '550 no' },
        { address: 'c@example.com', permanent: false, why: '451 later' },
      ],
    },
  ];
  await work();
  assert.deepEqual(await rowNow(), ['sent', 'b@example.com: 550 no; c@example.com: 451 later', true]);
  assert.equal(await errorOf(runId), '"b@example.com: 550 no"');
  await work();
  assert.deepEqual(
    tried.map(({ only }) => only),
    [undefined, ['c@example.com']],
  );
  assert.equal(tried[0]?.messageId, tried[1]?.messageId);
  assert.deepEqual(await rowNow(), ['sent', 'b@example.com: 550 no', true]);
  assert.deepEqual(await queuedMail(world.store), []);
});

test('some are refused for now, then for good', async () => {
  const runId = await queue('a@example.com, c@example.com');
  answers = [
    { kind: 'sent', refused: [{ address: 'c@example.com', permanent: false, why: '451 later' }] },
    failed(true, '550 never'),
  ];
  await work();
  assert.equal(await errorOf(runId), undefined);
  await work();
  assert.deepEqual(await rowNow(), ['sent', 'c@example.com: 550 never', true]);
  assert.equal(await errorOf(runId), '"c@example.com: 550 never"');
});

test('a message that was sent while the database was away is noted later and not sent again', async () => {
  await queue();
  const write = () => Promise.reject(new Error('away'));
  const away = new Proxy(world.store, {
    get(store, name) {
      const value = Reflect.get(store, name, store);
      return name === 'write' ? write : typeof value === 'function' ? value.bind(store) : value;
    },
  });
  await assert.rejects(work(0, away), /away/);
  assert.deepEqual(await rowNow(), ['queued', undefined, false]);
  await work(1);
  assert.deepEqual(await rowNow(), ['sent', undefined, true]);
  assert.equal(tried.length, 1);
});

/** Returns the job of the queued message, as a runner passes it. */
async function queuedLater() {
  const [queued] = await queuedMail(world.store);
  const { job, mail } = queued ?? assert.fail();
  return {
    ...job,
    state: mail as unknown as JsonObject,
    cause,
    done: () => [],
    context: world.master,
    reading: world.master,
  };
}

test('a fault of ours is tried again; the log tells neither addresses nor texts', async () => {
  await queue();
  answers = [Object.assign(new Error('no room for dana@example.com'), { code: 'EXDEV' })];
  const log = createLog('silent');
  const lines: unknown[] = [];
  log.error = ((...line: unknown[]) => lines.push(line)) as typeof log.error;
  const later = await queuedLater();
  const attempt = await deliverMail(world.system, later, { ...world.services, mailer, log });
  assert.deepEqual(attempt, { kind: 'again', delayMs: 1_000 });
  assert.deepEqual(await rowNow(), ['queued', 'The message could not be sent.', false]);
  assert.equal(lines.length, 1);
  assert.match(JSON.stringify(lines), /EXDEV/);
  assert.doesNotMatch(JSON.stringify(lines), /dana/);
  await work(1);
});

test('a box that has no room for now costs a message none of its attempts, and tells the log of a condition', async () => {
  await queue();
  answers = Array.from({ length: 3 }, () => Object.assign(new Error('no room for dana@example.com'), { code: 'ENOSPC' }));
  const later = await queuedLater();
  const met: unknown[] = [];
  const conditions = { met: (...what: unknown[]) => void met.push(what), over: () => {} };
  for (let n = 0; n < 3; n++)
    assert.deepEqual(await deliverMail(world.system, later, { ...world.services, mailer, conditions }), {
      ...{ kind: 'again', delayMs: 1_000, isShared: true, isUncounted: true },
    });
  assert.deepEqual(
    met,
    Array.from({ length: 3 }, () => ['the disk is full', { place: 'the mail box' }]),
  );
  await work(1);
});
