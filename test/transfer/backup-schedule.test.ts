/** Backups that the service makes on a schedule: BACKUP_URL, BACKUP_CRON, BACKUP_KEEP, BACKUP_RECIPIENTS. Reference: backup.md#scheduled-backups. */
import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { dataForTest } from '../support/data.ts';
import { find, type Row } from '../support/query.ts';
import { anyEngine, engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { succeed } from '../systems/cli.ts';
import { folderForTest } from './backups.ts';

/** Polls until a condition returns a truthy value. The default bound is long, because backups run at low priority. @returns that value */
async function until<T>(seen: () => Promise<T | false> | T | false, boundMs = 180_000): Promise<T> {
  for (const deadline = performance.now() + boundMs; ; await wait(100)) {
    const found = await seen();
    if (found) return found;
    assert.ok(performance.now() < deadline, `not within ${boundMs} ms: ${seen}`);
  }
}

const everySecond = '* * * * * *';

const backupsIn = async (folder: string, { appId }: ServiceProcess): Promise<string[]> =>
  (await readdir(join(folder, appId)).catch(() => [])).filter((name) => name.endsWith('.rdsb'));

/** How a backup is made and reported does not depend on the engine; who makes it is tested on PostgreSQL below. */
const reporting = process.env.TEST_ENGINES === undefined ? anyEngine : engines;

for (const engine of reporting)
  describe(`backups by the clock: ${engine}`, () => {
    test('they are made, encrypted for the recipients, and the newest are kept', async () => {
      const data = await dataForTest(engine);
      const folder = await folderForTest();
      const identity = await generateIdentity();
      const env = {
        BACKUP_URL: folder,
        BACKUP_CRON: everySecond,
        BACKUP_KEEP: '1h',
        BACKUP_RECIPIENTS: await identityToRecipient(identity),
        LOG_LEVEL: 'info',
      };
      const service = await startServiceProcess({ ...data, engine, env });
      await until(() => service.output().split('backups were made').length > 3);
      await service.stop();
      const names = await backupsIn(folder, service);
      // The service may have ended between a backup and the deletion of old ones.
      assert.ok(names.length <= 2, `of the hour one is kept: ${names}`);
      const key = join(folder, 'key.txt');
      await writeFile(key, `# made by a test\n${identity}\n`);
      const file = join(folder, service.appId, names[0] as string);
      assert.match(await succeed(service, 'backup', 'verify', file, '--identity', key), /: all checksums agree\n$/);
    });

    test('a failure is a line at level error, and a notification for each administrator', async () => {
      const data = await dataForTest(engine);
      const folder = await folderForTest();
      const place = join(folder, 'a-file');
      await writeFile(place, 'no folder');
      const service = await startServiceProcess({ ...data, engine, env: { BACKUP_URL: place, BACKUP_CRON: everySecond } });
      await until(() => /"level":50.*the backup of a system failed|"level":50.*the backup failed/.test(service.output()));
      const rows = await until(async () => {
        const found = await find(service, '_Notification');
        return found.length > 0 && found;
      });
      for (const row of rows) {
        const content = String(row.Content);
        assert.match(content, /^The backup that was due at \d{4}-\d\d-\d\dT[\d:.]+Z failed; the log of the service says why\./);
        assert.ok(!content.includes(folder), 'no path of the machine');
        assert.equal((row.User as Row).className, '_User');
      }
      await service.stop();
    });
  });

test('a cron that cannot be read stops the start', async () => {
  await assert.rejects(
    startServiceProcess({ env: { BACKUP_URL: '/tmp', BACKUP_CRON: 'daily' } }),
    /BACKUP_CRON: must be a cron of 5 or 6 fields/,
  );
});

if (engines.includes('postgres'))
  test('each backup is made by one of several processes; after a kill another process continues', async () => {
    const data = await dataForTest('postgres');
    const folder = await folderForTest();
    const env = { BACKUP_URL: folder, BACKUP_CRON: everySecond, LOG_LEVEL: 'info' };
    const services = [
      await startServiceProcess({ ...data, engine: 'postgres', env }),
      await startServiceProcess({ ...data, engine: 'postgres', env }),
    ];
    const turnsOf = (service: ServiceProcess) =>
      [...service.output().matchAll(/"due":"([^"]+)".*backups were made/g)].map(([, due]) => due);
    await until(() => services.flatMap(turnsOf).length >= 4);
    const [first, second] = services as [ServiceProcess, ServiceProcess];
    await first.kill();
    const before = turnsOf(second).length;
    await until(() => turnsOf(second).length > before + 1);
    await second.stop();
    const turns = services.flatMap(turnsOf);
    assert.equal(new Set(turns).size, turns.length, 'no backup was made twice');
  });
