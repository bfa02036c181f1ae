import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectDatabase } from '../connection/connect-database.ts';
import { query, testDatabase } from '../testing/server.ts';
import { dropSchema } from './drop-schema.ts';

test('a schema of many tables is dropped, and no other', async () => {
  const { url, drop } = await testDatabase();
  const database = await connectDatabase(url, { timeLimit: 10_000, connections: 4 });
  try {
    for (const name of ['rds_a', 'rds_A', 'rds_a"b']) {
      const schema = `"${name.replaceAll('"', '""')}"`;
      await query(url, `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.rds_catalog (); CREATE TABLE ${schema}."t_x""y" ()`);
    }
    await query(
      url,
      `DO $$ BEGIN FOR n IN 1..120 LOOP EXECUTE format('CREATE TABLE rds_a.%I (id int PRIMARY KEY)', 't_' || n); END LOOP; END $$`,
    );
    const schemas = async () =>
      (await query(url, `SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'rds%' ORDER BY 1`)) as { name: string }[];
    for (const [name, left] of [
      ['rds_a', ['rds_A', 'rds_a"b']],
      ['rds_a"b', ['rds_A']],
      ['rds_none', ['rds_A']],
    ] as const) {
      await dropSchema(database, name);
      assert.deepEqual((await schemas()).map((row) => row.name).sort(), [...left].sort());
    }
  } finally {
    await database.close();
    await drop();
  }
});
