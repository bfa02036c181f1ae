import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRowId } from './ids.ts';

test('ids are 10 letters and digits, each greater than the one before, even where the clock goes back', () => {
  const at = Date.UTC(2030, 0, 1);
  const ids: string[] = [];
  for (const now of [at, at + 1, at - 5_000, at + 1, Date.UTC(2080, 0, 1)])
    for (let n = 0; n < 1_000; n++) ids.push(newRowId(now));
  for (const id of ids) assert.match(id, /^[0-9A-Za-z]{10}$/);
  assert.deepEqual(
    ids.toSorted((a, b) => (a < b ? -1 : 1)),
    ids,
  );
  assert.equal(new Set(ids).size, ids.length);
});

test('more ids in a millisecond than it has', () => {
  const at = Date.UTC(2080, 0, 2);
  let before = newRowId(at);
  for (let n = 0; n < 500_000; n++) {
    const id = newRowId(at);
    if (id <= before) assert.fail(`${id} after ${before}`);
    before = id;
  }
});
