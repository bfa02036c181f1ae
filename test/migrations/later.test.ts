/** Data that a later version has written is refused with a message that says so. Reference: migration.md#upgrades-of-stored-systems. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { removeDirectory } from '../support/data.ts';
import { startService } from '../support/service.ts';
import { alter, makeDataDirectory, registryOf, systemOf, versionsOf } from './data-directory.ts';

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

it('a system with a catalogue or a template of a later version is not opened', async () => {
  // The first start writes the versions to the files.
  const first = await startService({ dataDir });
  await first.call('GET', '/platform/schemas');
  await first.stop();
  const { migration, template } = versionsOf(systemOf(dataDir));
  const [catalogue, templates] = [
    (n: number) => `PRAGMA user_version = ${n}`,
    (n: number) => `UPDATE rds_catalog SET templateVersion = ${n}`,
  ];
  for (const [later, back] of [
    [catalogue(99), catalogue(migration)],
    [templates(99), templates(template)],
  ] as const) {
    alter(systemOf(dataDir), later);
    const service = await startService({ dataDir });
    const { status } = await service.call('GET', '/platform/schemas');
    assert.equal(status, 500);
    assert.match(service.output(), /was written by a later version of the service/);
    await service.stop();
    alter(systemOf(dataDir), back);
  }
});
