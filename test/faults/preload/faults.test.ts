/** The faults that other suites inject reach the service: the calls of SQLite, file streams and the clock go through the library. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { credentials } from '../../support/files.ts';
import { path } from '../../support/records.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { injector } from './control.ts';

test('calls on files of the store are met and fail, by kind and path; the clock is set off', async (t) => {
  const faults = injector();
  if (!faults) return t.skip('no C compiler');
  const service = await startServiceProcess({ env: faults.env });
  assert.ok(faults.isLoaded());
  const write = () => service.call('POST', path('Accounts'), { body: { Name: 'x'.repeat(5_000) } });
  const upload = () =>
    service.call('POST', '/platform/files/a.txt', {
      ...{ body: 'text', headers: { ...credentials(service, { as: 'master' }), 'Content-Type': 'text/plain' } },
    });
  const met = (calls: 'read' | 'write' | 'sync' | 'open', part: string) => faults.begin({ calls: [calls], path: part });
  const rules = {
    'writes of the log of changes': met('write', 'records.sqlite-wal'),
    'flushes of the log of changes': met('sync', 'records.sqlite-wal'),
    'writes of an upload': met('write', service.dataDir),
    'opening of an upload': met('open', service.dataDir),
  };
  const elsewhere = met('write', 'no such path');
  assert.deepEqual([(await write()).status, (await upload()).status], [201, 201]);
  for (const [what, rule] of Object.entries(rules)) {
    assert.ok(rule.met() > 0, what);
    rule.end();
  }
  assert.equal(elsewhere.met(), 0);

  const failing = faults.begin({ calls: ['sync'], path: 'records.sqlite-wal', error: 'EIO' });
  assert.notEqual((await write()).status, 201);
  assert.ok(failing.met() > 0);
  failing.end();
  await wait(1_000);
  assert.equal((await write()).status, 201);

  const day = 86_400_000;
  faults.setClock(day);
  const { objectId } = (await write()).body;
  const { createdAt } = (await service.call('GET', path('Accounts', objectId))).body;
  const ahead = Date.parse(createdAt) - Date.now();
  assert.ok(Math.abs(ahead - day) < 60_000, `${ahead}`);
  assert.equal(await service.stop(), 0);
});
