/** An SMTP server of the test, on 127.0.0.1, that accepts mail, refuses it, or closes the connection. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { type ReadMail, readMail } from './smtp-message.ts';

export type { ReadMail } from './smtp-message.ts';

/** An accepted mail. */
export interface ReceivedMail extends ReadMail {
  /** The envelope's sender. */
  from: string;
  to: string[];
}

/** Behaviour: accepts the mail; refuses each recipient, with 451 or 550; or reads the mail and closes the connection without an answer. */
export type SmtpAnswer = 'accept' | 'refuse-for-now' | 'refuse' | 'drop';

export interface SmtpOptions {
  /** Port to listen on, such as that of an earlier server; default: a free one. */
  port?: number;
  /** Initial behaviour. */
  answer?: SmtpAnswer;
  /** Initial delay in milliseconds from the end of a mail to the answer. */
  slow?: number;
  /** Returns the behaviour for a recipient; `undefined`: as for all. */
  answerTo?: (address: string) => SmtpAnswer | undefined;
}

export interface Smtp {
  /** The value of SMTP_URL. */
  url: string;
  port: number;
  /** Accepted mails, in the order of arrival. */
  received: ReceivedMail[];
  /** Returns the number of attempts: accepted, refused, dropped or still in progress. */
  tried(): number;
  /**
   * Waits until this many mails have been accepted in all.
   * @param count default: one more than at the time of the call
   * @param within milliseconds
   * @returns all accepted mails
   * @throws after that time
   */
  next(count?: number, within?: number): Promise<ReceivedMail[]>;
  answer(how: SmtpAnswer): void;
  /** @param milliseconds from the end of a mail to the answer */
  slow(milliseconds: number): void;
  /** Closes the server and its open connections. */
  close(): Promise<void>;
}

const refusals: Partial<Record<SmtpAnswer, Error>> = {
  'refuse-for-now': Object.assign(new Error('Try again later'), { responseCode: 451 }),
  refuse: Object.assign(new Error('No such user here'), { responseCode: 550 }),
};

export async function startSmtp({ port = 0, slow = 0, answer = 'accept', answerTo }: SmtpOptions = {}): Promise<Smtp> {
  const received: ReceivedMail[] = [];
  let how = answer;
  let pause = slow;
  let tried = 0;
  const take = async (stream: AsyncIterable<Buffer>, { envelope }: SMTPServerSession) => {
    const chunks = await Array.fromAsync(stream);
    await wait(pause);
    const mail = await readMail(Buffer.concat(chunks));
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    if (how !== 'drop') received.push({ ...mail, from, to: envelope.rcptTo.map(({ address }) => address) });
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    closeTimeout: 1,
    onMailFrom: (_address, _session, done) => {
      tried++;
      done();
    },
    onRcptTo: ({ address }, _session, done) => done(refusals[answerTo?.(address) ?? how]),
    onData: (stream, session, done) => {
      take(stream, session).then(() => {
        if (how !== 'drop') return done();
        for (const connection of server.connections) if (connection.session === session) connection.close();
      }, done);
    },
  });
  // Some tests make the client disconnect in the middle.
  server.on('error', () => {});
  const listening = server.listen(port, '127.0.0.1');
  await once(listening, 'listening');
  const { port: bound } = listening.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${bound}`,
    port: bound,
    received,
    tried: () => tried,
    async next(count = received.length + 1, within = 10_000) {
      for (const deadline = Date.now() + within; received.length < count; await wait(10))
        if (Date.now() > deadline) throw new Error(`${received.length} of ${count} mails came within ${within} ms`);
      return received;
    },
    answer(now) {
      how = now;
    },
    slow(milliseconds) {
      pause = milliseconds;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
