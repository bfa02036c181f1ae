import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { addressesOf } from '../sql/testing/addresses.ts';
import { testPort } from '../sql/testing/port-cases.ts';
import { openAnyway } from '../testing/open.ts';
import { SqliteEngine } from './engine.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-shared-'));
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const store = await openAnyway(engine, 'app');
// Define all before the first one runs: otherwise the store is closed once the tests defined so far have run.
describe('the port: the embedded engine', async () => {
  after(async () => {
    await store.close();
    await engine.close();
    rmSync(directory, { recursive: true });
  });
  await testPort(engine, store);
});
