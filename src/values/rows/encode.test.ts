import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ColumnShape, escapedRowWriter, type RowShape, rowWriter } from './encode.ts';
import { rowReader } from './row-values.ts';

const column = (name: string, storage: ColumnShape['storage'], more: Partial<ColumnShape> = {}): ColumnShape => ({
  name,
  storage,
  ...more,
});
const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6);

const cases: [title: string, shape: RowShape, row: unknown[], expected: string][] = [
  [
    'text',
    { columns: [column('objectId', 'text'), column('a', 'text')] },
    ['x', 'a"\\\n\u0001ש'],
    '{"objectId":"x","a":"a\\"\\\\\\n\\u0001ש"}',
  ],
  ['long text', { columns: [column('objectId', 'text')] }, ['"'.repeat(300)], `{"objectId":"${'\\"'.repeat(300)}"}`],
  ['nulls are left out', { columns: [column('objectId', 'text'), column('a', 'number')] }, ['x', null], '{"objectId":"x"}'],
  ['nulls are kept where asked', { columns: [column('a', 'number', { keepNull: true })] }, [null], '{"a":null}'],
  ['first member absent', { columns: [column('a', 'number'), column('b', 'boolean')] }, [null, 0], '{"b":false}'],
  ['nothing at all', { columns: [column('a', 'number')] }, [null], '{}'],
  [
    'numbers',
    { columns: [column('a', 'number'), column('b', 'number'), column('c', 'number')] },
    [1.5, -0, 1e300],
    '{"a":1.5,"b":0,"c":1e+300}',
  ],
  ['date', { columns: [column('a', 'date')] }, [at], '{"a":{"__type":"Date","iso":"2026-01-02T03:04:05.006Z"}}'],
  ['instant', { columns: [column('createdAt', 'instant')] }, [at], '{"createdAt":"2026-01-02T03:04:05.006Z"}'],
  [
    'pointer',
    { columns: [column('p', 'pointer', { targetClass: 'T' })] },
    ['i"d'],
    '{"p":{"__type":"Pointer","className":"T","objectId":"i\\"d"}}',
  ],
  ['json is copied', { columns: [column('a', 'json')] }, ['[1,{"b":2}]'], '{"a":[1,{"b":2}]}'],
  [
    'places of json',
    { columns: [column('a', 'json', { paths: [['b'], ['c', 'd']] })] },
    ['{"b":1,"c":{"d":2,"e":3},"f":4}'],
    '{"a":{"b":1,"c":{"d":2}}}',
  ],
  ['empty ACL', { columns: [column('objectId', 'text'), column('ACL', 'acl')] }, ['x', null], '{"objectId":"x","ACL":{}}'],
  [
    'relation',
    { columns: [column('objectId', 'text'), column('r', 'relation', { targetClass: 'T' })] },
    ['x'],
    '{"objectId":"x","r":{"__type":"Relation","className":"T"}}',
  ],
  [
    'relation alone',
    { columns: [column('r', 'relation', { targetClass: 'T' })] },
    [],
    '{"r":{"__type":"Relation","className":"T"}}',
  ],
  [
    'expanded record',
    { expandedClass: 'T', columns: [column('objectId', 'text')] },
    ['x'],
    '{"__type":"Object","className":"T","objectId":"x"}',
  ],
];

for (const [title, shape, row, expected] of cases)
  test(`row writer: ${title}`, () => {
    const write = rowWriter(shape);
    assert.equal(write(row), expected);
    assert.equal(write(row), expected, 'the second row too');
    const writeEscaped = escapedRowWriter(shape);
    for (let time = 0; time < 2; time++) assert.equal(`"${writeEscaped(row)}"`, JSON.stringify(expected));
    const read = rowReader(shape);
    for (let time = 0; time < 2; time++) assert.equal(JSON.stringify(read(row)), JSON.stringify(JSON.parse(expected)));
  });

test('row writer: values that repeat and then change', () => {
  const write = rowWriter({ columns: [column('p', 'pointer', { targetClass: 'T' }), column('d', 'date')] });
  const texts = [
    ['a', at],
    ['a', at],
    ['b', at + 1],
  ].map((row) => JSON.parse(write(row)));
  assert.deepEqual(
    texts.map((text) => text.p.objectId),
    ['a', 'a', 'b'],
  );
  assert.deepEqual(
    texts.map((text) => text.d.iso.slice(-4)),
    ['006Z', '006Z', '007Z'],
  );
});

test('row writer: expansions stand in for values, and may decline', () => {
  const write = rowWriter({ columns: [column('objectId', 'text'), column('p', 'pointer', { targetClass: 'T' })] });
  const expand = [undefined, (id: string) => (id === 'a' ? '{"expanded":true}' : null)];
  assert.equal(write(['x', 'a'], expand), '{"objectId":"x","p":{"expanded":true}}');
  const shape = { columns: [column('objectId', 'text'), column('p', 'pointer', { targetClass: 'T' })] };
  assert.equal(escapedRowWriter(shape)(['x', 'a'], expand), String.raw`{\"objectId\":\"x\",\"p\":{\"expanded\":true}}`);
  assert.equal(write(['x', 'b'], expand), '{"objectId":"x","p":{"__type":"Pointer","className":"T","objectId":"b"}}');
});
