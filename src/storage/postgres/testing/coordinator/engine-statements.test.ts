import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { provision } from '../../../../systems/provision.ts';
import { addressesOf } from '../../../sql/testing/addresses.ts';
import { testPort } from '../../../sql/testing/port-cases.ts';
import { openAnyway } from '../../../testing/open.ts';
import { takeLease } from '../../cluster/leases.ts';
import { connectDatabase } from '../../connection/connect-database.ts';
import { PostgresEngine } from '../../engine.ts';
import { query, testDatabase } from '../server.ts';
import { offencesOf, parsed, reportOf } from './check.ts';
import { recordStatements } from './recorder.ts';
import { allOf, functionName } from './tree.ts';
import { ofSession, stable, stableWithoutConfiguration, stableWithZone, volatile } from './volatility.ts';

const texts = new Set<string>();
recordStatements(({ text }) => texts.add(text));

const database = await testDatabase('template0', true);
const settings = { timeLimit: 10_000, connections: 6, report: assert.fail, addressesOf };
const engine = await PostgresEngine.connect(database.url, settings);
const store = await openAnyway(engine, 'app');
// All tests are defined before the first one runs; otherwise the store is closed once those defined so far have run.
describe('the port: PostgreSQL, for a Citus cluster', async () => {
  after(async () => {
    await store.close();
    await engine.close();
    await database.drop();
  });
  await testPort(engine, store);

  test('a new system gets its first tables, and a periodic job is due once', async () => {
    const system = await openAnyway(engine, 'new');
    await provision(system);
    await system.close();
    const other = await connectDatabase(database.url, { timeLimit: 5_000 });
    try {
      assert.equal(await takeLease(other, 'rds_new', 'job', 1_000_000), true);
      assert.equal(await takeLease(other, 'rds_new', 'job', 1_000_000), false);
    } finally {
      await other.close();
    }
  });

  test('every function in its modifications is known to the rules by its volatility', async () => {
    const used = [...texts].flatMap((text) => {
      const statements = parsed(text);
      const modifications = ['InsertStmt', 'UpdateStmt', 'DeleteStmt'].flatMap((kind) => allOf(statements, kind));
      return allOf(modifications, 'FuncCall').map(functionName);
    });
    const names = [...new Set(used)].map((name) => `'${name}'`).join();
    const sql = `SELECT DISTINCT proname AS name FROM pg_proc WHERE provolatile <> 'i' AND proname IN (${names}) ORDER BY 1`;
    const mutable = (await query(database.url, sql)) as { name: string }[];
    const known = [volatile, ofSession, stable, stableWithoutConfiguration, stableWithZone];
    assert.deepEqual(
      mutable.map(({ name }) => name).filter((name) => !known.some((set) => set.has(name))),
      [],
    );
  });

  test('it sends no statement that a coordinator cannot plan', () => {
    assert.ok(texts.size > 100, `${texts.size} statements were recorded`);
    const report = reportOf(offencesOf(texts));
    assert.ok(report === '', report);
  });
});
