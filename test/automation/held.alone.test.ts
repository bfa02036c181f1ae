/** Schedules, queued triggers and mail of a held system wait until `system resume`, across restarts. Reference: backup.md#held-systems. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { dataForTest } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { masterHeaders, useTool } from '../support/mcp.ts';
import { type Json, path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { startSmtp } from '../support/smtp.ts';
import { holdSystem } from '../systems/making.ts';
import { eventually } from '../users/mail.ts';
import { mails } from './effects.ts';
import { openStore } from './store-reader.ts';

const run = async (service: ServiceProcess, ...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(args, service.settings, service.dataDir);
  assert.equal(code, 0, stderr);
  return stdout;
};

const rows = async (service: ServiceProcess, table: string): Promise<Json[]> =>
  (await service.call('GET', path(table), { query: { limit: 1_000 } })).body.results;

/** Longer than it takes a service to look at what is new, and for a schedule of every second to fire. */
const A_WHILE_MS = 4_000;

for (const engine of engines)
  test(`what a held system has to do waits, and is done once after it was resumed (${engine})`, {
    timeout: 180_000,
  }, async () => {
    const data = await dataForTest(engine);
    const smtp = await startSmtp();
    const running: ServiceProcess[] = [];
    const start = async () => {
      const service = await startServiceProcess({ ...data, env: { SMTP_URL: smtp.url, MAIL_FROM: 'crm@example.com' } });
      running.push(service);
      return service;
    };
    try {
      const first = await start();
      const create = async (service: ServiceProcess, table: string, body: object) => {
        const answer = await service.call('POST', path(table), { body });
        assert.equal(answer.status, 201, answer.text);
        return answer.body.objectId as string;
      };
      for (const table of ['Things', 'Marks', 'Clock', 'Ticks']) await create(first, table, { Name: 'first' });
      const makes = (table: string) => ({ type: 'create-object', actionData: { table, fields: { Name: 'made' } } });
      const onCreate = { table: 'Things', events: ['create'], actions: [makes('Marks'), mails('dana@example.com')] };
      const triggerId = await create(first, '_Trigger', onCreate);
      const schedule = { cron: '* * * * * *', timezone: 'UTC' };
      await create(first, '_Trigger', { table: 'Clock', events: ['schedule'], actions: [makes('Ticks')], schedule });
      await create(first, '_User', { username: 'u', email: 'u@example.com', password: 'A-long-passw0rd' });
      const ticks = async (service: ServiceProcess) => (await rows(service, 'Ticks')).length;
      await eventually(async () => (await ticks(first)) > 2 || undefined);

      await holdSystem(first, first.appId);
      await wait(A_WHILE_MS);
      const before = await ticks(first);
      for (let n = 0; n < 3; n++) await create(first, 'Things', { Name: `${n}` });
      const asked = await first.call('POST', '/platform/requestPasswordReset', { body: { email: 'u@example.com' } });
      assert.equal(asked.status, 200);
      const silent = async (service: ServiceProcess) => {
        await wait(A_WHILE_MS);
        const found = [await ticks(service), (await rows(service, 'Marks')).length, smtp.received.length];
        assert.deepEqual(found, [before, 1, 0]);
      };
      await silent(first);
      const iso = '20\\d\\d-[^"\\t]+Z';
      assert.match(await run(first, 'system', 'list', '--json'), new RegExp(`"held":"${iso}"`));
      // The words are no engine's.
      if (engine === engines[0])
        assert.match(
          await run(first, 'system', 'list'),
          /^testapp\t.*\theld: schedules, triggers and mail wait; system resume testapp starts them(\t.*)?$/m,
        );

      // Another process takes over what this one has left.
      await first.kill();
      const second = await start();
      const third = engine === 'postgres' ? await start() : second;
      for (let n = 3; n < 5; n++) await create(third, 'Things', { Name: `${n}` });
      const byAgent = (name: string, args: object) => useTool(third, masterHeaders(third), name, args);
      const { objectId } = await byAgent('Create-Record', { table: 'Things', data: { Name: '5' } });
      const { wouldFire, notes } = await byAgent('Test-Trigger', { triggerId, objectId });
      assert.equal(wouldFire, true);
      assert.match(notes.at(-1), /^The system is held: what fires is queued/);
      await silent(second);

      const store = await openStore(second);
      const jobs = (await store.queued()).filter(({ f_kind, kind = f_kind }) => kind !== 'before').length;
      await store.close();
      assert.ok(jobs >= 6, `${jobs} jobs`);
      const since = Date.now();
      assert.equal(await run(second, 'system', 'resume', 'testapp'), `Resumed testapp: ${jobs} queued jobs start\n`);
      const count = async () => [(await rows(third, 'Marks')).length, smtp.received.length];
      await eventually(async () => `${await count()}` === '7,6' || undefined);
      await eventually(async () => (await ticks(third)) > before + 2 || undefined);
      await wait(A_WHILE_MS);
      assert.deepEqual(await count(), [7, 6]);
      // One for all that were missed, one that was queued, and those of the seconds since.
      const made = (await ticks(third)) - before;
      assert.ok(made <= (Date.now() - since) / 1_000 + 2, `${made} ticks in ${Date.now() - since} ms`);
      assert.equal(await run(second, 'system', 'resume', 'testapp'), 'testapp is not held\n');
      if (engine === engines[0]) assert.doesNotMatch(await run(second, 'system', 'list'), /held/);
      await eventually(
        async () => !(await byAgent('Test-Trigger', { triggerId, objectId })).notes.join().includes('held') || undefined,
      );
    } finally {
      for (const service of running)
        if (service.process.exitCode === null && service.process.signalCode === null) await service.stop();
      await smtp.close();
    }
  });
