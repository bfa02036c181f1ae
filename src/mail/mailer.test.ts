import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { createLog, type Logger } from '../observe/index.ts';
import type { ComposedMail } from './compose.ts';
import { type MailerParts, type MailTransport, ReliableMailer } from './mailer.ts';
import { Outbox } from './outbox.ts';

const message = { to: 'dana@example.com', subject: 'שלום', text: 'secret text', html: '<p>secret text</p>' };

/** Returns results from a list: an error, or `null` for success; beyond the list every attempt succeeds. */
class FakeTransport implements MailTransport {
  readonly sent: ComposedMail[] = [];
  attempts = 0;
  closed = false;
  readonly #answers: (object | 'hang' | null)[];

  constructor(...answers: (object | 'hang' | null)[]) {
    this.#answers = answers;
  }

  async deliver(mail: ComposedMail, signal: AbortSignal) {
    this.attempts++;
    const answer = this.#answers.shift() ?? null;
    if (answer === 'hang')
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(Object.assign(new Error(), { code: 'EABORT' }))),
      );
    else if (answer) throw answer;
    this.sent.push(mail);
    return [];
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

let directory: string;
let lines: { level: string; about: Record<string, unknown>; text: string }[];
let log: Logger;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rds-mail-'));
  lines = [];
  log = createLog('silent');
  for (const level of ['warn', 'error'] as const)
    log[level] = ((about: Record<string, unknown>, text: string) =>
      lines.push({ level, about, text })) as unknown as Logger['warn'];
});
afterEach(() => rmSync(directory, { recursive: true }));

const boxPath = () => join(directory, 'mail');
const inBox = () => {
  try {
    return readdirSync(boxPath());
  } catch {
    return [];
  }
};
const mailer = (transport: MailTransport | null, more: Partial<MailerParts> = {}) =>
  new ReliableMailer({ from: 'Us <us@example.com>', transport, box: new Outbox(boxPath()), log, retryDelaysMs: [1, 2], ...more });

const refused = Object.assign(new Error('550 no such user dana@example.com'), {
  code: 'EENVELOPE',
  responseCode: 550,
  permanent: true,
});
const busy = Object.assign(new Error('451 later'), { code: 'EENVELOPE', responseCode: 451, permanent: false });
const unreachable = Object.assign(new Error('connect'), { code: 'ESOCKET' });

for (const [what, answers, attempts, sent] of [
  ['sent at once', [], 1, true],
  ['a passing fault is tried again', [busy, unreachable], 3, true],
  ['a fault that does not pass is kept', [busy, unreachable, busy], 3, false],
  ['a permanent fault is not tried again', [refused], 1, false],
] as const)
  test(what, async () => {
    const transport = new FakeTransport(...answers);
    await mailer(transport).send(message, 'app');
    assert.deepEqual([transport.attempts, transport.sent.length], [attempts, sent ? 1 : 0]);
    assert.equal(inBox().length, sent ? 0 : 1);
    assert.equal(lines.length, sent ? 0 : 1);
    assert.doesNotMatch(JSON.stringify(lines), /dana|secret/);
  });

test('without a transport the message is kept whole, for the own user alone, and the log says so', async () => {
  await mailer(null).send(message, 'app');
  const [file = ''] = inBox();
  assert.match(file, /^\d{8}T\d{9}Z-[A-Za-z0-9]{10}\.eml$/);
  assert.equal(statSync(join(boxPath(), file)).mode & 0o777, 0o600);
  assert.equal(statSync(boxPath()).mode & 0o777, 0o700);
  const text = readFileSync(join(boxPath(), file), 'utf8');
  for (const part of [/^From: Us <us@example\.com>\r$/m, /^To: dana@example\.com\r$/m, /^Message-ID: </m, /secret text/])
    assert.match(text, part);
  assert.deepEqual(
    lines.map(({ level, about }) => [level, about]),
    [['warn', { file, why: 'SMTP_URL is not set' }]],
  );
});

test('every attempt sends the same bytes to one recipient', async () => {
  const seen: ComposedMail[] = [];
  const transport = new FakeTransport(busy);
  const deliver = transport.deliver.bind(transport);
  transport.deliver = (mail, signal) => {
    seen.push(mail);
    return deliver(mail, signal);
  };
  await mailer(transport).send({ ...message, to: 'a@example.com, b@example.com' }, 'app');
  assert.equal(seen.length, 2);
  assert.deepEqual(seen[0]?.raw, seen[1]?.raw);
  assert.equal(seen[0]?.envelope.to.length, 1);
});

test('while it is being sent a message is in the box already, and a new process keeps it', async () => {
  const transport = new FakeTransport('hang');
  const one = mailer(transport, { closeTimeoutMs: 1 });
  const done = one.send(message, 'app');
  while (transport.attempts === 0) await new Promise(setImmediate);
  assert.match(inBox().join(), /^[^,]+\.sending$/);
  writeFileSync(join(boxPath(), 'x.part'), 'half');
  // A process that is running.
  writeFileSync(join(boxPath(), `y.${process.ppid}.sending`), 'another');
  assert.equal(await new Outbox(boxPath()).recover(), 1);
  assert.match(inBox().sort().join(), /^[^,]+\.eml,y\.\d+\.sending$/);
  await assert.rejects(Promise.all([done, one.close()]), { code: 'ENOENT' });
});

test('the end does not wait for another attempt', async () => {
  const transport = new FakeTransport(busy);
  const one = mailer(transport, { retryDelaysMs: [60_000] });
  const done = one.send(message, 'app');
  while (transport.attempts === 0) await new Promise(setImmediate);
  await Promise.all([one.close(), done]);
  assert.match(inBox().join(), /^[^,]+\.eml$/);
  assert.equal(transport.closed, true);
});

test('the end cuts an attempt that takes too long, and later messages are kept', async () => {
  const transport = new FakeTransport('hang');
  const one = mailer(transport, { closeTimeoutMs: 20 });
  const done = one.send(message, 'app');
  while (transport.attempts === 0) await new Promise(setImmediate);
  await one.close();
  await done;
  await one.send(message, 'app');
  assert.equal(lines.at(-1)?.about.why, 'the service has ended');
  assert.equal(transport.attempts, 1);
  assert.equal(inBox().filter((file) => file.endsWith('.eml')).length, 2);
});

test('a box that cannot be written does not keep a message from being sent, and losing one is an error', async () => {
  writeFileSync(boxPath(), 'no directory');
  const transport = new FakeTransport(null, refused);
  const one = mailer(transport);
  await one.send(message, 'app');
  assert.equal(transport.sent.length, 1);
  await assert.rejects(one.send(message, 'app'), /neither be sent nor kept/);
  await assert.rejects(mailer(null).send(message, 'app'), { code: 'EEXIST' });
});

for (const [what, answers, outcome] of [
  ['a message that is sent', [], { kind: 'sent', refused: [] }],
  ['a refusal', [refused], { kind: 'failed', permanent: true, why: 'The message has no recipient whom mail can be sent to.' }],
  [
    'a passing fault of the server',
    [unreachable],
    { kind: 'failed', permanent: false, why: 'The mail server cannot be reached.', isServerFault: true },
  ],
] as const)
  test(`a single attempt: ${what}`, async () => {
    const transport = new FakeTransport(...answers);
    assert.deepEqual(await mailer(transport).attempt(message, 'app'), outcome);
    assert.deepEqual([transport.attempts, inBox(), lines], [1, [], []]);
  });

test('a single attempt without a transport keeps the message, hidden recipients too', async () => {
  const bcc = [{ name: 'Noa', address: 'noa@example.com' }];
  const outcome = await mailer(null).attempt({ ...message, bcc }, 'app');
  const [file = ''] = inBox();
  assert.deepEqual(outcome, { kind: 'kept', file });
  assert.match(readFileSync(join(boxPath(), file), 'utf8'), /^Bcc: Noa <noa@example\.com>\r$/m);
});

test('the end cuts a single attempt, which may be made again', async () => {
  const transport = new FakeTransport('hang');
  const one = mailer(transport, { closeTimeoutMs: 20 });
  const outcome = one.attempt(message, 'app');
  while (transport.attempts === 0) await new Promise(setImmediate);
  one.leave();
  assert.deepEqual(await outcome, { kind: 'ended' });
  assert.deepEqual(await one.attempt(message, 'app'), { kind: 'ended' });
  assert.equal(transport.attempts, 1);
  await one.close();
});

/** A server that accepts no message until `take` is called. */
class SlowTransport extends FakeTransport {
  readonly #waiting: (() => void)[] = [];
  readonly recipients: string[] = [];
  override async deliver(mail: ComposedMail) {
    this.recipients.push(mail.envelope.to.join());
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return [];
  }
  /** Accepts the messages in progress. */
  async take(): Promise<void> {
    for (const taken of this.#waiting.splice(0)) taken();
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }
}

test('systems take turns, whatever one of them has waiting, and what is sent takes turns with what is tried once', async () => {
  const transport = new SlowTransport();
  let kept = 0;
  class CountingBox extends Outbox {
    override async put(...given: Parameters<Outbox['put']>) {
      const name = await super.put(...given);
      kept++;
      return name;
    }
  }
  const one = mailer(transport, { box: new CountingBox(boxPath()) });
  const to = (address: string) => ({ ...message, to: address });
  const all: Promise<unknown>[] = [];
  for (let n = 0; n < 30; n++) all.push(one.send(to(`${n}@a.test`), 'a'));
  while (transport.recipients.length < 3 || kept < 30) await new Promise(setImmediate);
  all.push(one.attempt(to('x@a.test'), 'a'), one.attempt(to('x@b.test'), 'b'), one.send(to('x@c.test'), 'c'));
  while (kept < 31) await new Promise(setImmediate);
  assert.equal(transport.recipients.length, 3);
  while (transport.recipients.length < 33) await transport.take();
  await transport.take();
  await Promise.all(all);
  for (const address of ['x@a.test', 'x@b.test', 'x@c.test']) assert.ok(transport.recipients.indexOf(address) < 20);
  await one.close();
});

test('who has too many under way keeps their own further ones, and nobody else’s', async () => {
  const transport = new SlowTransport();
  const one = mailer(transport, { closeTimeoutMs: 1 });
  const all = Array.from({ length: 1_000 }, () => one.send(message, 'a'));
  const more = one.send(message, 'a');
  await more;
  assert.deepEqual(
    lines.map(({ about }) => about.why ?? about.err),
    ['too many messages are under way'],
  );
  const other = one.send({ ...message, to: 'x@b.test' }, 'b');
  for (const next of [...all, other]) {
    let isDone = false;
    void next.then(() => (isDone = true));
    while (!isDone) await transport.take();
  }
  assert.equal(lines.length, 1);
  assert.ok(transport.recipients.includes('x@b.test'));
  await one.close();
});
