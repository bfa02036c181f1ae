import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { checkExtent, queryJson, whereValue } from './parameters.ts';

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

test('a pipeline that a tool has made is held to what a text is held to', () => {
  const nested = (levels: number): JsonValue[] => (levels === 1 ? [] : [nested(levels - 1)]);
  const longest = JSON.parse(`[${textOf(limits.queryLength - 2)}]`);
  const fitting = [longest, nested(limits.jsonDepth)];
  for (const pipeline of fitting) {
    checkExtent(pipeline);
    queryJson(JSON.stringify(pipeline));
  }
  for (const [pipeline, key] of [
    [[...longest, 1], 'badQuery'],
    [nested(limits.jsonDepth + 1), 'nestedTooDeep'],
  ] as const) {
    assert.throws(() => checkExtent(pipeline), { key });
    assert.throws(() => queryJson(JSON.stringify(pipeline)), { code: key === 'badQuery' ? 102 : 107 });
  }
});
