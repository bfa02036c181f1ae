/** What a later version of the service has written is refused, in a line that says so. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { removeDirectory } from '../support/data.ts';
import { startService } from '../support/service.ts';
import { alter, makeDataDirectory, registryOf, systemOf } from './data-directory.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = makeDataDirectory('users');
});
afterEach(() => removeDirectory(dataDir));

it('a registry of a later version stops the start', async () => {
  alter(registryOf(dataDir), 'PRAGMA user_version = 99');
  await assert.rejects(
    startService({ dataDir }),
    /was written by a later version of the service \(migration 99, this one knows \d+\)/,
  );
});

for (const [what, sql] of [
  ['catalogue', 'PRAGMA user_version = 99'],
  ['template', 'UPDATE rds_catalog SET templateVersion = 99'],
] as const)
  it(`a system with a ${what} of a later version is not opened`, async () => {
    // The first start gives the files their numbers.
    const first = await startService({ dataDir });
    await first.call('GET', '/platform/schemas');
    await first.stop();
    alter(systemOf(dataDir), sql);
    const service = await startService({ dataDir });
    const { status } = await service.call('GET', '/platform/schemas');
    assert.equal(status, 500);
    assert.match(service.output(), /was written by a later version of the service/);
    await service.stop();
  });
