import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import type { Tool } from './definition/tool.ts';
import { resultOf } from './dispatch-tool.ts';

const writing = { hints: { readOnlyHint: false, openWorldHint: true } } satisfies Partial<Tool>;
const reading = { hints: { readOnlyHint: true, openWorldHint: false } } satisfies Partial<Tool>;
const long = 'x'.repeat(70_000);

/** The result of a tool that writes. */
function shownOf(value: JsonValue): JsonObject {
  const { content, isError } = resultOf(value, writing);
  const [part] = content;
  assert.ok(isError !== true && part?.type === 'text');
  assert.ok(Buffer.byteLength(part.text) <= 61_000);
  return JSON.parse(part.text);
}

test('an answer that fits is returned as it is', () => {
  for (const tool of [reading, writing])
    assert.deepEqual(resultOf({ a: [1] }, tool), { content: [{ type: 'text', text: '{"a":[1]}' }] });
});

test('what is too long is refused of a tool that reads', () => {
  const { isError, structuredContent } = resultOf({ a: long }, reading);
  assert.deepEqual([isError, (structuredContent as { code: number }).code], [true, 116]);
});

test('a write is never answered as an error: what is too long is cut to what names it', () => {
  const value = { objectId: 'abcdefghij', before: { a: long }, updatedAt: '2026', text: long, name: 'Dana' };
  const { hint, ...shown } = shownOf(value);
  assert.deepEqual(shown, { objectId: 'abcdefghij', updatedAt: '2026', name: 'Dana', truncated: true });
  assert.match(String(hint), /was written/);
  for (const other of [long, [long], { a: long }]) assert.equal(shownOf(other).truncated, true);
});

test('what a dry run would write is cut too, and is not told as written', () => {
  assert.deepEqual(shownOf({ dryRun: true, value: { a: long } }), { dryRun: true, truncated: true });
});

test('items keep their ids, whatever else they lose', () => {
  const items = (count: number, text: string) =>
    Array.from({ length: count }, (_, at) => ({ objectId: `id${at}`, name: `n${at}`, created: true, text }));
  const few = shownOf({ rows: items(50, 'y'.repeat(2_000)), total: 5 });
  assert.deepEqual([few.total, (few.rows as JsonValue[]).length], [5, 50]);
  assert.deepEqual((few.rows as JsonValue[])[49], { objectId: 'id49', name: 'n49', created: true });
  const many = shownOf({ rows: items(2_000, 'y'.repeat(2_000)) }).rows as JsonValue[];
  assert.deepEqual([many.length, many[1_999]], [2_000, { objectId: 'id1999' }]);
  const most = shownOf({ rows: items(20_000, '') });
  assert.deepEqual([(most.rows as JsonValue[])[0], most.truncated], [{ objectId: 'id0' }, true]);
  assert.ok((most.rows as JsonValue[]).length > 1_000);
});

test('names that every object has are names like others', () => {
  const value = JSON.parse(`{"__proto__":{"a":1},"constructor":5,"text":"${long}"}`) as JsonObject;
  const shown = shownOf(value);
  assert.deepEqual([Object.hasOwn(shown, '__proto__'), shown.constructor, Object.hasOwn(shown, 'text')], [true, 5, false]);
});
