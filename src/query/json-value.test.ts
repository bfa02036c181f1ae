import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../kernel/limits.ts';
import { queryJson, whereValue } from './parameters.ts';

const textOf = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`;

test('a where or a pipeline that comes as text has at most 4 Mi characters', () => {
  const longest = textOf(limits.queryLength);
  assert.equal(longest.length, limits.queryLength);
  for (const read of [whereValue, queryJson]) {
    assert.deepEqual(Object.keys(read(longest) as object), ['a']);
    for (const text of [`${longest} `, '['.repeat(limits.queryLength + 1), `{${'\\"'.repeat(limits.queryLength)}`])
      assert.throws(() => read(text), { code: 102 });
  }
});
