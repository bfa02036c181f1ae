import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyChanges, emptySchema, type SchemaChange } from './change.ts';
import { planTableChange } from './definition.ts';
import { presentName, refuseFormerName } from './former-names.ts';
import { type Schema, tableOf } from './model.ts';
import { changesTo } from './replay.ts';
import { SEARCH_INDEX } from './search-index.ts';

const made = applyChanges(emptySchema, [
  { kind: 'createTable', className: 'T', fields: ['a', 'b'].map((name) => ({ name, type: 'String' })) },
]);
const change = (schema: Schema, fields: Record<string, object>) =>
  applyChanges(schema, planTableChange(schema, 'T', { fields } as never));
const rename = (schema: Schema, name: string, to: string) => change(schema, { [name]: { __op: 'Rename', to } });
const namesIn = (schema: Schema) => {
  const { formerNames, loggedNames } = tableOf(schema, 'T');
  return [Object.fromEntries(formerNames), Object.fromEntries(loggedNames)];
};
const none = new Set<string>();

describe('former names', () => {
  test('lead to the present one, and are free when a field has the name', () => {
    const twice = rename(rename(made, 'a', 'x'), 'x', 'y');
    assert.deepEqual(namesIn(twice), [{ a: 'y', x: 'y' }, { y: ['x', 'a'] }]);
    assert.deepEqual(namesIn(rename(twice, 'y', 'a')), [{ x: 'a', y: 'a' }, { a: ['y', 'x'] }]);
    const freed = change(twice, { a: { type: 'Number' } });
    assert.deepEqual(namesIn(freed), [{ x: 'y' }, { y: ['x', 'a'] }]);
    assert.equal(presentName(tableOf(freed, 'T'), 'a'), 'a');
    assert.equal(presentName(tableOf(twice, 'T'), 'a'), 'y');
    // Logs may still have values of a field that is gone.
    assert.deepEqual(namesIn(change(twice, { y: { __op: 'Delete' } })), [{}, { y: ['x', 'a'] }]);
  });

  test('of a name that several fields had in turn, all are known to logs', () => {
    const again = rename(change(rename(made, 'a', 'x'), { a: { type: 'Number' } }), 'a', 'z');
    assert.deepEqual(namesIn(again), [{ a: 'z' }, { x: ['a'], z: ['a'] }]);
  });

  test('are refused with the present name, except for callers who may not know it', () => {
    const table = tableOf(rename(made, 'a', 'x'), 'T');
    assert.throws(() => refuseFormerName(table, 'a', none), { code: 105, message: 'Invalid field name: a (renamed to x)' });
    assert.throws(() => refuseFormerName(table, 'a', new Set(['x'])), { code: 105, message: 'Invalid field name: a' });
    for (const name of ['b', 'x', 'other', 'constructor']) refuseFormerName(table, name, none);
  });

  test('a search index goes if a field would be searched otherwise, and stays if not', () => {
    const index = { name: SEARCH_INDEX, keys: [['FullName', 1]] } as const;
    const searched = applyChanges(made, [
      { kind: 'addField', className: 'T', name: 'FullName', type: 'String' },
      { kind: 'setIndex', className: 'T', index },
    ]);
    const keysAfter = (to: string) => tableOf(rename(searched, 'FullName', to), 'T').indexes.get(SEARCH_INDEX)?.keys;
    assert.deepEqual(keysAfter('OtherName'), [['OtherName', 1]]);
    assert.equal(keysAfter('Phone'), undefined);
    assert.equal(keysAfter('Comment'), undefined);
  });

  test('are part of the changes that make a schema again', () => {
    const schema = change(rename(rename(made, 'a', 'x'), 'x', 'y'), { a: { type: 'Number' } });
    const changes: SchemaChange[] = changesTo(schema);
    assert.deepEqual(namesIn(applyChanges(emptySchema, changes)), namesIn(schema));
  });
});
