import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdSet } from './id-set.ts';

test('ids are found again, in the order in which they were added', () => {
  const ids = new IdSet();
  const expected = Array.from({ length: 20_000 }, (_, n) => (n % 7 === 0 ? `${'long '.repeat(n % 90)}שלום😀${n}` : `id${n}`));
  for (const id of ['', ...expected]) {
    assert.equal(ids.add(id), true);
    assert.equal(ids.add(id), false);
  }
  assert.equal(ids.size, expected.length + 1);
  for (const [at, id] of ['', ...expected].entries()) {
    assert.equal(ids.at(at), id);
    assert.equal(ids.indexOf(id), at);
  }
  for (const id of ['id', 'id20000', 'ID1', 'i', 'long ']) assert.equal(ids.has(id), false);
});
