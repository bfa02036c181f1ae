import assert from 'node:assert/strict';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Filter } from '../../query/model/filter.ts';
import type { SchemaChange } from '../../schema/change.ts';
import { fieldOf, tableOf } from '../../schema/model.ts';
import { columnsOf } from '../../storage/column-values.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Store } from '../../storage/port.ts';
import { PostgresEngine } from '../../storage/postgres/index.ts';
import { query, testDatabase } from '../../storage/postgres/testing/server.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/engine.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { rowsOf } from '../../storage/text-values.ts';
import { migrate, newestVersion } from './index.ts';

const options = { timeLimit: 10_000, report: assert.fail, addressesOf };
const before: SchemaChange[] = [
  { kind: 'createTable', className: 'T', fields: [{ name: 'text', type: 'String' }] },
  { kind: 'setTextIndex', className: 'T', fields: ['text'] },
  { kind: 'setTemplateVersion', version: 8 },
];

/** Returns the objectIds of the records that a word finds. */
async function found(store: Store, term: string): Promise<string> {
  const table = tableOf(store.schema(), 'T');
  const search = { terms: [term], phrases: [], excluded: [], caseSensitive: false, diacriticSensitive: false };
  const filter: Filter = { kind: 'text', table, search };
  const shape = {
    fields: [fieldOf(table, 'objectId')],
    includes: [],
    order: [],
    skip: 0,
    limit: 10,
    count: false,
    withScore: false,
  };
  const rows = await rowsOf<{ objectId: string }>(await store.reader.find({ table, filter, ...shape }, 'values'));
  return rows.map(({ objectId }) => objectId).join(' ');
}

/** @param age gives the index the content that an earlier version made of the texts */
async function isMadeAnew(engine: Engine, age: () => void | Promise<void>): Promise<void> {
  const store = await openAnyway(engine, 'old');
  await store.write({ plan: () => ({ changes: before, mutations: [] }) });
  for (const [objectId, text] of [['a', 'הַבַּיִת'], ['b', 'גן']] as const) // biome-ignore format: two rows
    await store.write({
      plan(schema) {
        const table = tableOf(schema, 'T');
        const values = columnsOf(table, { objectId, createdAt: 1, updatedAt: 1, createdBy: 'm', updatedBy: 'm', text });
        return { changes: [], mutations: [{ kind: 'insert', table, values }] };
      },
    });
  await age();
  assert.equal(await found(store, 'בית'), '');
  await migrate(store, 'it');
  assert.deepEqual([await found(store, 'בית'), await found(store, 'הבית'), await found(store, 'גן')], ['a', 'a', 'b']);
  assert.deepEqual([store.schema().templateVersion, tableOf(store.schema(), 'T').textIndex], [newestVersion, ['text']]);
  await store.close();
  await engine.close();
}

test('text indexes of earlier versions are created again on SQLite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-text-'));
  await isMadeAnew(new SqliteEngine(directory, options), () => {
    const [file = assert.fail()] = globSync(join(directory, '**/records.sqlite'));
    const db = new DatabaseSync(file);
    for (const event of ['insert', 'update', 'delete']) db.exec(`DROP TRIGGER "t_T~fts~${event}"`);
    db.exec(`
      DROP TABLE "t_T~fts";
      CREATE VIRTUAL TABLE "t_T~fts" USING fts5("text", content='t_T', content_rowid='_seq', tokenize='unicode61 remove_diacritics 2');
      INSERT INTO "t_T~fts" ("t_T~fts") VALUES ('rebuild');
    `);
    db.close();
  });
  rmSync(directory, { recursive: true });
});

test('text indexes of earlier versions are created again on PostgreSQL', async () => {
  const database = await testDatabase();
  await isMadeAnew(await PostgresEngine.connect(database.url, { ...options, connections: 6 }), async () => {
    const tables = await query(database.url, `SELECT schemaname FROM pg_tables WHERE tablename = 't_T'`);
    const [{ schemaname }] = tables as [{ schemaname: string }];
    await query(
      database.url,
      `UPDATE "${schemaname}"."t_T" SET "v~text" = array_to_tsvector(ARRAY['הבית']) WHERE "objectId" = 'a'`,
    );
  });
  await database.drop();
});
