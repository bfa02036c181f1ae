/** Runs the worked example as its README says (examples/client/README.md). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { crmOf } from '../support/client.ts';
import { anyEngine } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

const script = fileURLToPath(new URL('../../examples/client/sync.ts', import.meta.url));

test('the example brings customers, plans their calls, and changes nothing when it runs again', async () => {
  const service = await sharedService(anyEngine[0] ?? 'sqlite');
  const run = async (apiKey: string) => {
    const args = [script, '--url', service.url, '--app', service.appId];
    const options = { env: { PATH: process.env.PATH ?? '', API_KEY: apiKey }, timeout: 60_000 };
    return promisify(execFile)(process.execPath, args, options).catch((error) => error);
  };
  assert.deepEqual((await run(service.apiKey)).stdout.split('\n'), [
    'customers: 3 created, 0 there already',
    'calls: 3 planned, 0 there already',
    'cities: Eilat 1, Haifa 2',
    'first call: Avi Mizrahi',
    'comment: added to Avi Mizrahi',
    '',
  ]);
  const tasks = await crmOf(service)
    .table('Tasks')
    .find({ where: { Name: 'Welcome call' } });
  assert.match((await run(service.apiKey)).stdout, /^customers: 0 created, 3 there already\ncalls: 0 planned, 3 there already\n/);
  assert.deepEqual(
    await crmOf(service)
      .table('Tasks')
      .find({ where: { Name: 'Welcome call' } }),
    tasks,
  );
  const refused = await run('wrong-key');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^unauthorized: master key is required \(status 403, code undefined, request \w+\)$/m);
});
