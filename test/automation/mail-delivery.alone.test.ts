/**
 * Reference: mail.md#outgoing-mail. Messages without a mail server, with one that is away or refuses, and when the service is started
 * anew in between: each arrives or its row says why it did not, under one Message-ID.
 */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { after, afterEach, before, describe, test } from 'node:test';
import { makeData, type OwnData } from '../support/data.ts';
import type { Json } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { type Smtp, type SmtpAnswer, startSmtp } from '../support/smtp.ts';
import { boxOf } from '../support/smtp-message.ts';
import { newName } from '../support/users.ts';
import { eventually } from '../users/mail.ts';
import { mails, said } from './effects.ts';

const newTable = () => `T${newName().replace(/\W/g, '')}`;

for (const engine of sampledEngines())
  describe(`delivery of e-mail (${engine})`, () => {
    let data: OwnData;
    let service: ServiceProcess;
    let smtp: Smtp;
    /** How the server answers to some recipients. */
    const answers = new Map<string, SmtpAnswer>();
    before(async () => {
      data = await makeData(engine);
      await listen();
      await start(smtp.url);
    });
    afterEach(() => {
      answers.clear();
      smtp.answer('accept');
      smtp.slow(0);
      smtp.received.length = 0;
    });
    after(async () => {
      await service.stop();
      await smtp.close();
      await data.remove();
    });

    const listen = async (port = 0) => {
      smtp = await startSmtp({ port, answerTo: (address) => answers.get(address) });
    };
    const start = async (url?: string) => {
      const env = { MAIL_FROM: 'CRM <crm@example.com>', ...(url !== undefined && { SMTP_URL: url }) };
      service = await startServiceProcess({ ...data, env });
    };
    const create = async (table: string, body: object): Promise<string> => {
      const answer = await service.call('POST', `/platform/classes/${table}`, { body });
      assert.equal(answer.status, 201, answer.text);
      return answer.body.objectId;
    };
    const rows = async (table: string, where: object): Promise<Json[]> =>
      (await service.call('GET', `/platform/classes/${table}`, { query: { where } })).body.results;
    /** Has a message sent; answers what finds its row and its error. */
    const send = async (to = 'dana@example.com', more: object = {}) => {
      const table = newTable();
      await create(table, { Name: 'first' });
      const trigger = await create('_Trigger', { table, events: ['create'], actions: [mails(to, { subject: table, ...more })] });
      await create(table, { Name: 'שלום' });
      const row = async () => (await rows('Emails', { Subject: table }))[0];
      return {
        row,
        /** The row, once it is so. */
        once: (isSo: (row: Json) => boolean) =>
          eventually(async () => {
            const now = await row();
            return now && isSo(now) ? now : undefined;
          }),
        error: async () => {
          const [log] = await rows('_syslogTriggers', { triggerId: trigger, actionId: { $exists: true } });
          return log?.error === undefined ? null : said(log);
        },
      };
    };
    const has = (status: string) => (row: Json) => row.SendStatus === status;
    const idOf = ({ headers }: { headers: Map<string, string> }) => headers.get('message-id');

    test('a server that is away and comes back: the message arrives, and the reason is gone', async () => {
      await smtp.close();
      const mail = await send();
      const waiting = await mail.once(({ ErrorMessage }) => ErrorMessage !== undefined);
      assert.deepEqual([waiting.SendStatus, waiting.ErrorMessage], ['queued', 'The mail server cannot be reached.']);
      await listen(smtp.port);
      const [received] = await smtp.next(1);
      const row = await mail.once(has('sent'));
      assert.deepEqual([row.ErrorMessage, row.MessageId], [undefined, received && idOf(received)]);
      assert.ok(row.SendAt.iso > row.createdAt);
      assert.equal(await mail.error(), null);
    });

    test('a server that breaks off is asked again under the same Message-ID', async () => {
      smtp.answer('drop');
      const mail = await send();
      await mail.once(({ ErrorMessage }) => ErrorMessage !== undefined);
      smtp.answer('accept');
      const received = await smtp.next(1);
      const { MessageId } = await mail.once(has('sent'));
      assert.deepEqual(received.map(idOf), [MessageId]);
    });

    test('a refusal: the row and the log have the words of the server, once and for all', async () => {
      const before = smtp.tried();
      smtp.answer('refuse');
      const mail = await send();
      const row = await mail.once(has('failed'));
      assert.match(row.ErrorMessage, /^550 /);
      assert.deepEqual([await mail.error(), row.SendAt], [row.ErrorMessage, undefined]);
      assert.deepEqual([smtp.tried() - before, smtp.received.length], [1, 0]);
      assert.doesNotMatch(service.output(), /dana@/);
    });

    test('one of several is refused: the others get it once, the row says who did not', async () => {
      answers.set('b@example.com', 'refuse');
      const mail = await send('a@example.com, b@example.com');
      const row = await mail.once(has('sent'));
      assert.match(row.ErrorMessage, /^b@example\.com: 550 /);
      assert.equal(await mail.error(), row.ErrorMessage);
      assert.deepEqual(
        smtp.received.map(({ to }) => to),
        [['a@example.com']],
      );
    });

    test('one recipient of several is to be asked again: only that one gets it later', async () => {
      answers.set('b@example.com', 'refuse-for-now');
      const mail = await send('a@example.com, b@example.com');
      const waiting = await mail.once(has('sent'));
      assert.match(waiting.ErrorMessage, /^b@example\.com: 451 /);
      answers.clear();
      await smtp.next(2);
      assert.equal((await mail.once(({ ErrorMessage }) => ErrorMessage === undefined)).SendStatus, 'sent');
      assert.deepEqual(
        smtp.received.map(({ to }) => to),
        [['a@example.com'], ['b@example.com']],
      );
      assert.equal(new Set(smtp.received.map(idOf)).size, 1);
    });

    test('a slow server keeps nobody waiting: neither writes nor the actions that follow', async () => {
      smtp.slow(3_000);
      const table = newTable();
      await create(table, { Name: 'a' });
      const copy = { type: 'create-object', actionData: { table: 'Tags', fields: { Name: table } } };
      await create('_Trigger', { table, events: ['create'], actions: [mails('a@example.com'), copy] });
      await create(table, { Name: 'b' });
      await eventually(async () => ((await rows('Tags', { Name: table })).length === 1 ? true : undefined));
      assert.equal(smtp.received.length, 0);
      await smtp.next(1);
    });

    for (const [how, end] of [
      ['stopped', () => service.stop()],
      ['killed', () => service.kill()],
    ] as const)
      test(`a service that is ${how} in between: the next one sends, whatever has become of the row`, async () => {
        await smtp.close();
        const [one, other] = [await send(), await send('b@example.com')];
        const { MessageId } = await one.once(({ ErrorMessage }) => ErrorMessage !== undefined);
        const { objectId } = await other.once(({ ErrorMessage }) => ErrorMessage !== undefined);
        await service.call('DELETE', `/platform/classes/Emails/${objectId}`);
        await end();
        await listen(smtp.port);
        await start(smtp.url);
        const received = await smtp.next(2);
        assert.deepEqual(received.flatMap(({ to }) => to).sort(), ['b@example.com', 'dana@example.com']);
        assert.equal((await one.once(has('sent'))).MessageId, MessageId);
        assert.ok(received.some((mail) => idOf(mail) === MessageId));
        assert.equal(await other.row(), undefined);
      });

    test('without SMTP_URL a message is kept, for the service alone, with all its recipients', async () => {
      await service.stop();
      await start();
      const mail = await send('Dana <dana@example.com>, b@example.com', { bcc: 'noa@example.com', html: '<p>{{Name}}</p>' });
      const row = await mail.once(has('kept'));
      const kept = (await boxOf(data.dataDir)).filter(({ headers }) => headers.get('message-id') === row.MessageId);
      assert.equal(kept.length, 1);
      const [file] = kept;
      assert.ok(file);
      assert.deepEqual(file.to, ['Dana <dana@example.com>', 'b@example.com']);
      assert.deepEqual([file.headers.get('bcc'), file.html.trim(), file.text.trim()], ['noa@example.com', '<p>שלום</p>', 'שלום']);
      assert.equal((await stat(file.path)).mode & 0o777, 0o600);
      assert.deepEqual([row.MailFrom, row.SendAt, row.ErrorMessage], ['CRM <crm@example.com>', undefined, undefined]);
      assert.equal(await mail.error(), null);
      assert.doesNotMatch(service.output(), /dana@|noa@|שלום/);
    });
  });
