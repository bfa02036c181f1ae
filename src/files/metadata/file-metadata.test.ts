import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import type { Engine } from '../../storage/engine.ts';
import type { Store } from '../../storage/port.ts';
import { PostgresEngine } from '../../storage/postgres/index.ts';
import { testDatabase } from '../../storage/postgres/testing/server.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { testAttaching } from '../testing/attach-cases.ts';
import { testCatalog } from '../testing/catalog-cases.ts';

/** Engines of two processes. */
interface Place {
  readonly engines: readonly [Engine, Engine];
  remove(): void | Promise<void>;
}

const settings = { timeLimit: 10_000, report: assert.fail, addressesOf };

async function embedded(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-files-'));
  const open = () => new SqliteEngine(directory, settings);
  return { engines: [open(), open()], remove: () => rmSync(directory, { recursive: true }) };
}

async function postgres(): Promise<Place> {
  const database = await testDatabase();
  const open = () => PostgresEngine.connect(database.url, { ...settings, connections: 6 });
  return { engines: [await open(), await open()], remove: () => database.drop() };
}

for (const [name, make] of [
  ['the embedded engine', embedded],
  ['PostgreSQL', postgres],
] as const)
  describe(`files on ${name}`, () => {
    let place: Place;
    let stores: [Store, Store];
    before(async () => {
      place = await make();
      const first = await openAnyway(place.engines[0], 'app');
      await provision(first);
      stores = [first, await openAnyway(place.engines[1], 'app')];
    });
    after(async () => {
      for (const store of stores) await store.close();
      for (const engine of place.engines) await engine.close();
      await place.remove();
    });
    testCatalog(() => stores);
    testAttaching(() => stores[0]);
  });
