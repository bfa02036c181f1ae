import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field, TableSchema } from './model.ts';
import { withSharedParts } from './shared-parts.ts';

/** A table as if it was just read from a catalogue. */
function table(more: Partial<TableSchema> = {}, ...fields: Field[]): TableSchema {
  return {
    className: 'T',
    sqlName: 't_T',
    fields: new Map([{ name: 'a', type: 'String', column: 'a' } as Field, ...fields].map((field) => [field.name, field])),
    permissions: { find: { '*': true } },
    indexes: new Map([['i', { name: 'i', keys: [['a', 1]] }]]),
    uniqueIndexes: new Map([['u', { name: 'u', fields: ['a'] }]]),
    textIndex: ['a'],
    formerNames: new Map(),
    loggedNames: new Map(),
    ...more,
  };
}

const partsOf = ({ fields, permissions, indexes, uniqueIndexes, textIndex, timeline }: TableSchema) => [
  ...[fields, permissions, indexes, uniqueIndexes, textIndex, timeline],
];

test('equal parts of two systems are one object, and their tables are two', () => {
  const timeline = () => ({ displayFields: { a: true }, index: {} });
  const [one, two] = [table({ timeline: timeline() }), table({ timeline: timeline() })].map(withSharedParts);
  assert.ok(one && two && one !== two);
  for (const [index, part] of partsOf(one).entries()) assert.equal(partsOf(two)[index], part);
  assert.deepEqual(two, table({ timeline: timeline() }));
});

test('what differs in any way is not shared', () => {
  const plain = withSharedParts(table());
  const others: TableSchema[] = [
    table({}, { name: 'b', type: 'Pointer', column: 'b', targetClass: 'T' }),
    table({}, { name: 'b', type: 'Pointer', column: 'b', targetClass: 'U' }),
    table({ fields: new Map([['a', { name: 'a', type: 'String', column: 'a~2' }]]) }),
    table({}, { name: 'b', type: 'String', column: 'b', required: true }),
    table({}, { name: 'b', type: 'String', column: 'b', defaultValue: '' }),
    table({ uniqueIndexes: new Map([['u', { name: 'u', fields: ['a'], as: 'nocase' }]]) }),
    table({ permissions: { find: {} } }),
    table({ permissions: {} }),
    table({ indexes: new Map([['i', { name: 'i', keys: [['a', -1]] }]]) }),
    table({ textIndex: [] }),
  ];
  const kept = [plain, ...others.map(withSharedParts)];
  for (const [index, other] of others.entries()) assert.deepEqual(kept[index + 1], other);
  assert.deepEqual(plain, table());
});

test('parts of different kinds are not mixed up', () => {
  const { indexes, textIndex, fields } = withSharedParts(table({ indexes: new Map(), textIndex: [], fields: new Map() }));
  assert.deepEqual([indexes, textIndex, fields], [new Map(), [], new Map()]);
});
