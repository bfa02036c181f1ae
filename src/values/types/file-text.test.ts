import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RowShape, rowWriter } from '../rows/encode.ts';
import { rowReader } from '../rows/row-values.ts';
import { type FileForm, fileWriter, storedFile } from './file-text.ts';

const open: FileForm = { address: 'http://s/app' };
const held: FileForm = { address: 'http://h/files/app', holder: { className: 'T', fieldName: 'f', idAt: 1 } };

const cases: [title: string, form: FileForm, stored: string, expected: string][] = [
  [
    'public',
    open,
    storedFile('a_b.png', 'public'),
    '{"__type":"File","name":"a_b.png","url":"http://s/app/a_b.png","public":true}',
  ],
  [
    'private',
    held,
    storedFile('a_%D7.png', 'private'),
    '{"__type":"File","name":"a_%D7.png","url":"http://h/files/app/a_%D7.png/T/r%2F1/f","private":true}',
  ],
  [
    'an address that JSON has to escape',
    { address: 'http://"/\\' },
    storedFile('a', 'public'),
    '{"__type":"File","name":"a","url":"http://\\"/\\\\/a","public":true}',
  ],
];
for (const [title, form, stored, expected] of cases)
  test(`shown file: ${title}`, () => assert.equal(fileWriter(form)(stored, [stored, 'r/1']), expected));

const untouched = [
  storedFile('a', 'private'),
  storedFile('a"b', 'public'),
  '{"__type":"File","name":"a"}',
  '{"__type":"File","name":"a","url":"http://h/a"}',
  '{"__type":"File","name":"a","url":"http://h/a","public":true}',
  '{"__type":"File","name":"',
  '","public":true}',
  '{"__type":"File","name","public":true}',
  '{}',
  '',
];
for (const stored of untouched)
  test(`shown file: ${JSON.stringify(stored)} is no stored form of a public file`, () =>
    assert.equal(fileWriter(open)(stored, []), stored));

test('row writer: files among other members', () => {
  const shape: RowShape = {
    columns: [
      { name: 'objectId', storage: 'text' },
      { name: 'f', storage: 'file', file: open },
      { name: 'n', storage: 'number' },
      { name: 'p', storage: 'file', file: { ...held, holder: { className: 'T', fieldName: 'p', idAt: 0 } } },
    ],
  };
  const write = rowWriter(shape);
  const row = ['x', storedFile('a', 'public'), 1, storedFile('b', 'private')];
  const shown = JSON.parse(write(row));
  assert.deepEqual(rowReader(shape)(row), shown);
  assert.deepEqual(shown, {
    objectId: 'x',
    f: { __type: 'File', name: 'a', url: 'http://s/app/a', public: true },
    n: 1,
    p: { __type: 'File', name: 'b', url: 'http://h/files/app/b/T/x/p', private: true },
  });
  assert.equal(write(['x', null, 1, null]), '{"objectId":"x","n":1}');
});
