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
/** What the server answers to a recipient. */
let refusal: (Error & { responseCode?: number }) | undefined;

beforeEach(async () => {
  received = [];
  refusal = undefined;
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: (_address, _session, done) => done(refusal),
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

const mail = () => compose('us@example.com', { to: 'dana@example.com', subject: 's', text: 't', html: '<p>t</p>' });
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
  const composed = await compose('us@example.com', {
    to: 'a@example.com>\r\nBcc: <b@example.com',
    subject: 'x\r\nBcc: b@example.com',
    text: 't',
    html: '',
  });
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

test('an attempt ends when it is told to', async () => {
  const leaving = new AbortController();
  leaving.abort();
  await assert.rejects(transport.deliver(await mail(), leaving.signal), { code: 'EABORT' });
});
