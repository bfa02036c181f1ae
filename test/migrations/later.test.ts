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

it('what a later version has only added to is served, as it is by that version', async () => {
  const first = await startService({ dataDir });
  await first.call('GET', '/platform/schemas');
  await first.stop();
  const before = versionsOf(systemOf(dataDir));
  alter(
    systemOf(dataDir),
    `INSERT INTO rds_levels VALUES ('engine', 99), ('system', 99)
      ON CONFLICT (scope) DO UPDATE SET reached = 99;
     ALTER TABLE rds_store ADD COLUMN later TEXT; CREATE TABLE rds_later (one INTEGER)`,
  );
  alter(
    registryOf(dataDir),
    `INSERT INTO rds_levels VALUES ('engine', 99) ON CONFLICT (scope) DO UPDATE SET reached = 99;
     ALTER TABLE keys ADD COLUMN later TEXT`,
  );
  const service = await startService({ dataDir });
  assert.equal((await service.call('POST', '/platform/classes/Later', { body: { n: 1 } })).status, 201);
  assert.equal((await service.call('GET', '/platform/classes/Later')).body.results.length, 1);
  await service.stop();
  assert.deepEqual(versionsOf(systemOf(dataDir)), before);
});

it('a system of this version can be served by the version before', async () => {
  // These numbers are what version 0.1.0 compares with its own. A release that raises them cannot run beside the one before.
  const service = await startService({ dataDir });
  await service.call('GET', '/platform/schemas');
  await service.stop();
  assert.deepEqual(versionsOf(systemOf(dataDir)), { migration: 7, template: 12 });
});
