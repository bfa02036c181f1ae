import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChanges, emptySchema, type SchemaChange } from './change.ts';
import { MAX_FORMER_NAMES, planRenames } from './definition-renames.ts';
import { type TableSchema, tableOf } from './model.ts';

const FIELDS = 1_000;

const renamed = (table: TableSchema, from: string, to: string): TableSchema => {
  const names = Array.from({ length: FIELDS }, (_, n) => [`${from}${n}`, `${to}${n}`] as const);
  const schema = { ...emptySchema, tables: new Map([['T', table]]) };
  return tableOf(applyChanges(schema, planRenames(table, new Map(names))), 'T');
};

test('a table has a bounded number of former names, of deleted fields too', () => {
  const fields = Array.from({ length: FIELDS }, (_, n) => ({ name: `a0_${n}`, type: 'String' }) as const);
  let table = tableOf(applyChanges(emptySchema, [{ kind: 'createTable', className: 'T', fields }]), 'T');
  const rounds = MAX_FORMER_NAMES / FIELDS;
  for (let round = 0; round < rounds; round++) {
    table = renamed(table, `a${round}_`, `a${round + 1}_`);
    assert.equal(table.formerNames.get('a0_7'), `a${round + 1}_7`);
  }
  assert.throws(() => renamed(table, `a${rounds}_`, 'b_'), { code: 255 });
  const drops = fields.map((_, n): SchemaChange => ({ kind: 'dropField', className: 'T', name: `a${rounds}_${n}` }));
  const schema = { ...emptySchema, tables: new Map([['T', table]]) };
  const again = fields.map((_, n): SchemaChange => ({ kind: 'addField', className: 'T', name: `c_${n}`, type: 'String' }));
  assert.throws(() => renamed(tableOf(applyChanges(schema, [...drops, ...again]), 'T'), 'c_', 'd_'), { code: 255 });
});
