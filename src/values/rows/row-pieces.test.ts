import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RowShape, rowWriter } from './encode.ts';
import { rowPieces } from './row-pieces.ts';

const shape: RowShape = {
  columns: [
    { name: 'objectId', storage: 'text' },
    { name: 'r', storage: 'relation', targetClass: 'T' },
    { name: 'text', storage: 'text' },
    { name: 'n', storage: 'number' },
    { name: 'list', storage: 'json' },
    { name: 'last', storage: 'text' },
  ],
};
const joined = (row: readonly unknown[], ...more: [] | [Parameters<typeof rowPieces>[2]]) => [...rowPieces(shape, row, ...more)];

test('a row in pieces is the row, wherever a value is divided', () => {
  for (const unit of ['x', 'é"\\\n', '😀', 'a😀', 'שלום '])
    for (const length of [10, 300_000, 1_000_001]) {
      const text = unit.repeat(length / unit.length);
      const row = ['o1', text, 5, JSON.stringify([text, { text }]), text];
      const pieces = joined(row);
      assert.equal(pieces.join(''), rowWriter(shape)(row));
      assert.ok(pieces.every((piece) => piece.length < 1_000_000 && piece.isWellFormed()));
    }
});

test('what an include puts in place of a value stays', () => {
  const row = ['o1', 'x'.repeat(400_000), 5, `[${'1,'.repeat(200_000)}1]`, null];
  const expansions = [undefined, undefined, undefined, () => '["expanded"]'];
  assert.equal(joined(row, expansions).join(''), rowWriter(shape)(row, expansions));
});
