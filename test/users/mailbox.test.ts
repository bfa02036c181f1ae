/** Mail without SMTP_URL, or mail that could not be sent, is kept in DATA_DIR/mail. Reference: mail.md#outgoing-mail. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { after, afterEach, before, describe, test } from 'node:test';
import { makeData, type OwnData } from '../support/data.ts';
import { anyEngine } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { startSmtp } from '../support/smtp.ts';
import { boxOf } from '../support/smtp-message.ts';
import { login, newName, otherPassword, signUp } from '../support/users.ts';
import { eventually, linkIn } from './mail.ts';
import { fillIn } from './reset.ts';

for (const engine of anyEngine)
  describe(engine, () => {
    let data: OwnData;
    let service: ServiceProcess | undefined;
    before(async () => {
      data = await makeData(engine);
    });
    afterEach(() => service?.stop());
    after(() => data.remove());

    const start = async (env: Record<string, string> = {}): Promise<ServiceProcess> => {
      service = await startServiceProcess({ ...data, env });
      return service;
    };
    const ask = ({ call }: ServiceProcess, email: string) =>
      call('POST', '/platform/requestPasswordReset', { as: 'anonymous', body: { email } });

    test('Mail without SMTP_URL: one .eml file each, for the service alone; its link works', async () => {
      const service = await start();
      const email = `${newName()}@example.com`;
      const user = await signUp(service, { email });
      await ask(service, `${newName()}@example.com`);
      await ask(service, email);
      const [mail] = await eventually(async () => {
        const box = await boxOf(data.dataDir);
        return box.length > 0 ? box : undefined;
      });
      assert.ok(mail);
      assert.deepEqual(mail.to, [email]);
      assert.equal((await stat(mail.path)).mode & 0o777, 0o600);
      const link = linkIn(mail, service);
      assert.equal((await fillIn(link, otherPassword)).status, 200);
      assert.equal((await login(service, { username: user.username, password: otherPassword })).status, 200);
      assert.ok(!service.output().includes(link.searchParams.get('token') as string));
      assert.equal(await service.stop(), 0);
      assert.equal((await boxOf(data.dataDir)).length, 1, 'nobody else got one');
    });

    test('Mail that could not be sent is there after the service stopped', async () => {
      const sink = await startSmtp();
      await sink.close();
      const service = await start({ SMTP_URL: sink.url, MAIL_FROM: 'crm@example.com' });
      const email = `${newName()}@example.com`;
      await signUp(service, { email });
      const { status, body } = await ask(service, email);
      assert.equal(status, 200);
      assert.equal(typeof body.message, 'string');
      assert.equal(await service.stop(), 0);
      const kept = (await boxOf(data.dataDir)).filter(({ to }) => to.includes(email));
      assert.equal(kept.length, 1);
      assert.match(kept[0]?.raw ?? '', /^From: .*crm@example\.com/im);
    });
  });
