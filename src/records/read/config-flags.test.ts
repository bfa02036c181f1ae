import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import { masterContext } from '../testing/context.ts';
import { createRecord } from '../write/create.ts';
import { deleteRecord } from '../write/remove.ts';
import { updateRecord } from '../write/update.ts';
import { configFlag } from './config-flags.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-flags-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
let store: Store;

before(async () => {
  store = await openAnyway(engine, 'app');
  await provision(store);
});
after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

test('a flag is what the first row of its name says, as of now', async () => {
  const add = async (value: Record<string, boolean> | null) =>
    (await createRecord(masterContext(store), 'Config', { Name: 'allowAllFiles', Value: value })).objectId;
  assert.equal(await configFlag(store, 'allowAllFiles'), null);
  assert.equal(await configFlag(store, 'constructor'), null);
  const first = await add({ allowAllFiles: true });
  await add({ allowAllFiles: false });
  assert.deepEqual(await configFlag(store, 'allowAllFiles'), { allowAllFiles: true });
  await updateRecord(masterContext(store), 'Config', first, { Value: null });
  assert.equal(await configFlag(store, 'allowAllFiles'), null);
  await deleteRecord(masterContext(store), 'Config', first, {});
  assert.deepEqual(await configFlag(store, 'allowAllFiles'), { allowAllFiles: false });
});

test('a flag is read once for as long as nobody writes to the table', async () => {
  let reads = 0;
  const find = store.reader.find.bind(store.reader);
  store.reader.find = (query) => {
    reads++;
    return find(query);
  };
  for (let time = 0; time < 3; time++) assert.deepEqual(await configFlag(store, 'AcceptWebLeads'), { AcceptWebLeads: true });
  assert.equal(reads, 1);
});
