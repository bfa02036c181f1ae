import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { compose } from './compose.ts';
import type { MailTransport } from './mailer.ts';
import { smtpTransport } from './smtp.ts';

let server: SMTPServer;
let transport: MailTransport;
let received: { to: string[]; text: string }[];
/** The server's answer to a recipient; only to `refusedOne` if that is set. */
let refusal: (Error & { responseCode?: number }) | undefined;
let refusedOne: string | undefined;

beforeEach(async () => {
  received = [];
  refusal = undefined;
  refusedOne = undefined;
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: ({ address }, _session, done) => done(refusedOne === undefined || refusedOne === address ? refusal : undefined),
    onData: (stream, session, done) => {
      let text = '';
      stream.on('data', (piece) => (text += piece));
      stream.on('end', () => {
        received.push({ to: session.envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  transport = smtpTransport(`smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`);
});
afterEach(async () => {
  await transport.close();
  await new Promise<void>((resolve) => server.close(resolve));
});

const mail = () => compose('us@example.com', { to: 'dana@example.com', subject: 's', text: 't', html: '<p>t</p>' }, 'send');
const never = new AbortController().signal;

test('a message arrives as it was composed', async () => {
  const composed = await mail();
  await transport.deliver(composed, never);
  assert.deepEqual(
    received.map(({ to }) => to),
    [['dana@example.com']],
  );
  assert.equal(received[0]?.text.trimEnd(), composed.raw.toString().trimEnd());
});

test('a line break in an address adds neither header nor recipient', async () => {
  const composed = await compose(
    'us@example.com',
    { to: 'a@example.com>\r\nBcc: <b@example.com', subject: 'x\r\nBcc: b@example.com', text: 't', html: '' },
    'send',
  );
  assert.equal(composed.envelope.to.length, 1);
  assert.doesNotMatch(composed.raw.toString(), /^Bcc:/im);
});

for (const [responseCode, permanent] of [
  [550, true],
  [451, false],
] as const)
  test(`a refusal with ${responseCode} is ${permanent ? '' : 'not '}permanent`, async () => {
    refusal = Object.assign(new Error('no'), { responseCode });
    await assert.rejects(transport.deliver(await mail(), never), { responseCode, permanent });
  });

test('several recipients: hidden ones get it, and no copy tells of them', async () => {
  const [to, cc, bcc] = ['to', 'cc', 'hidden'].map((name) => [{ name: `${name}, דנה`, address: `${name}@example.com` }]);
  const composed = await compose(
    'us@example.com',
    { to: to ?? [], cc: cc ?? [], bcc: bcc ?? [], subject: 's', html: '<p>t</p>' },
    'send',
  );
  assert.deepEqual(await transport.deliver(composed, never), []);
  assert.deepEqual(received[0]?.to, ['to@example.com', 'cc@example.com', 'hidden@example.com']);
  assert.doesNotMatch(received[0]?.text ?? '', /bcc:|hidden/i);
  assert.match(received[0]?.text ?? '', /^Cc: .*<cc@example\.com>\r$/m);
});

test('recipients who are refused are distinguished from those who are not', async () => {
  refusal = Object.assign(new Error('no such user'), { responseCode: 550 });
  refusedOne = 'b@example.com';
  const to = ['a', 'b'].map((name) => ({ name: '', address: `${name}@example.com` }));
  const composed = await compose('us@example.com', { to, subject: 's', html: 't' }, 'send');
  const outcome = await transport.deliver(composed, never);
  assert.deepEqual(outcome, [{ address: 'b@example.com', permanent: true, why: '550 no such user' }]);
  assert.deepEqual(received[0]?.to, ['a@example.com']);
});

test('a message with an id and a date of its own, for some of its recipients', async () => {
  const to = ['a', 'b'].map((name) => ({ name: '', address: `${name}@example.com` }));
  const given = { to, subject: 's', html: '<p>one</p>', messageId: '<1@example.com>', date: 0, only: ['b@example.com'] };
  const { raw, envelope } = await compose('us@example.com', { ...given, from: 'Them <them@example.com>' }, 'send');
  assert.deepEqual(envelope, { from: 'them@example.com', to: ['b@example.com'] });
  for (const line of [
    'From: Them <them@example.com>',
    'To: a@example.com, b@example.com',
    'Message-ID: <1@example.com>',
    'Date: Thu, 01 Jan 1970 00:00:00 +0000',
    'one',
  ])
    assert.ok(raw.toString().split('\r\n').includes(line), line);
});

test('a line break in the name of a recipient or in the subject adds nothing', async () => {
  const to = [{ name: 'x\r\nBcc: b@example.com', address: 'a@example.com' }];
  const composed = await compose('us@example.com', { to, subject: 'x\u2028\r\n\r\nBcc: b@example.com', html: 't' }, 'send');
  assert.deepEqual(composed.envelope.to, ['a@example.com']);
  assert.doesNotMatch(composed.raw.toString(), /^Bcc:/im);
});

test('an attempt ends when it is aborted', async () => {
  const leaving = new AbortController();
  leaving.abort();
  await assert.rejects(transport.deliver(await mail(), leaving.signal), { code: 'EABORT' });
});
