import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readRows } from '../records/index.ts';
import type { TableSchema } from '../schema/model.ts';
import { isDescribed } from '../schema/system-tables.ts';
import type { Store } from '../storage/port.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/engine.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from './provision.ts';
import { readTemplate } from './template/template.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-provision-'));
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

function all(className: string): Promise<Record<string, unknown>[]> {
  const fields = store.schema().tables.get(className)?.fields.keys() ?? assert.fail(className);
  return readRows(store, { className, fields: [...fields], filter: () => ({ kind: 'always' }) });
}

test('every table of the template is made, with every field, and each first row is in it', async () => {
  const template = await readTemplate();
  const { tables } = store.schema();
  assert.deepEqual([...tables.keys()], template.map(({ className }) => className)); // biome-ignore format: one comparison
  for (const { className, definition, rows } of template) {
    const table = tables.get(className) as TableSchema;
    for (const name of Object.keys(definition.fields as object)) assert.ok(table.fields.has(name), `${className}.${name}`);
    assert.equal((await all(className)).length, rows.length, className);
  }
});

test('every target of a Pointer or Relation is a table', () => {
  const { tables, referencesTo } = store.schema();
  for (const target of referencesTo.keys()) assert.ok(tables.has(target), target);
});

test('_Dictionary labels every field that schema reads show, once, the default fields too, and no other', async () => {
  const labels = (await all('_Dictionary')).map(({ tblName, field }) => `${tblName}.${field}`);
  const shown = [...store.schema().tables.values()].flatMap(({ className, fields }) =>
    [...fields.keys()].filter((name) => isDescribed(className, name)).map((name) => `${className}.${name}`),
  );
  assert.deepEqual(labels.sort(), shown.sort());
});

test('first rows have ids of their own and are by the master dummy user', async () => {
  const rows = await all('LeadStatuses');
  assert.equal(new Set(rows.map(({ objectId }) => objectId)).size, rows.length);
  const master = { __type: 'Pointer', className: '_User', objectId: 'master' };
  for (const { objectId, createdBy, updatedBy } of rows) {
    assert.match(String(objectId), /^[A-Za-z0-9]{10}$/);
    assert.deepEqual([createdBy, updatedBy], [master, master]);
  }
});

test('a system that has tables stays as it is', async () => {
  const before = store.schema();
  await provision(store);
  assert.equal(store.schema(), before);
});
