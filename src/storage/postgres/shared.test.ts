import assert from 'node:assert/strict';
import { after, describe } from 'node:test';
import { addressesOf } from '../sql/testing/addresses.ts';
import { testPort } from '../sql/testing/port-cases.ts';
import { openAnyway } from '../testing/open.ts';
import { PostgresEngine } from './engine.ts';
import { testDatabase } from './testing/server.ts';

const database = await testDatabase();
const engine = await PostgresEngine.connect(database.url, {
  timeLimit: 10_000,
  connections: 6,
  report: assert.fail,
  addressesOf,
});
const store = await openAnyway(engine, 'app');
// Define all tests before the first one runs; otherwise the store is closed once those defined so far have run.
describe('the port: PostgreSQL', async () => {
  after(async () => {
    await store.close();
    await engine.close();
    await database.drop();
  });
  await testPort(engine, store);
});
