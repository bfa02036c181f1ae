import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../kernel/json.ts';
import { describeError } from '../errors/describe.ts';
import { choice, instant, limit, names, object, objects, recordId, siteId, skip, table } from './parameters.ts';
import { defineTool, type ToolCall } from './tool.ts';

const echo = defineTool({
  name: 'Echo',
  group: 'records',
  description: 'Says what it was called with.',
  input: {
    table: table(),
    keys: names().optional(),
    limit: limit(5),
    skip: skip(),
    where: object().optional(),
    data: objects(2).optional(),
    at: instant().optional(),
    kind: choice(['a', 'b']).optional(),
    objectId: recordId().optional(),
    pageId: siteId().optional(),
  },
  needs: ['mcp:view'],
  effect: 'read',
  run: async (_call, input) => input as unknown as JsonValue,
});

const call = (args: unknown) => echo.run({} as ToolCall, args);

test('arguments come with their defaults; JSON that was sent as text is read', async () => {
  assert.deepEqual(await call({ table: 'Accounts' }), { table: 'Accounts', limit: 5, skip: 0 });
  const read = (await call({ table: 'T', where: '{"a":1}', data: '[{"b":2}]', limit: 2000 })) as Record<string, unknown>;
  assert.deepEqual([read.where, read.data, read.limit], [{ a: 1 }, [{ b: 2 }], 2000]);
});

test('what a tool cannot be called with is refused, with the reason and the parameters that it has', async () => {
  const cases: [unknown, RegExp][] = [
    [{}, /^Invalid arguments: table is required$/],
    [undefined, /table is required/],
    [[], /must be of type object/],
    ['text', /must be of type object/],
    [{ table: '' }, /table must not be empty/],
    [{ table: 5 }, /table must be of type string/],
    [{ table: 'T', limit: 2001 }, /limit must be at most 2000/],
    [{ table: 'T', limit: -1 }, /limit must not be negative/],
    [{ table: 'T', limit: 1.5 }, /limit must be a whole number/],
    [{ table: 'T', limit: '5' }, /limit must be/],
    [{ table: 'T', where: [] }, /where must be an object/],
    [{ table: 'T', where: '{broken' }, /^Invalid arguments: where: Invalid JSON: the text is not JSON$/],
    [{ table: 'T', where: 'broken' }, /where must be an object/],
    [{ table: 'T', where: '{"n":1e999}' }, /where: Invalid JSON: a number is too large$/],
    [{ table: 'T', data: '[{"n":[-1e999]}]' }, /data: Invalid JSON: a number is too large$/],
    [{ table: 'T', data: '[{"a":"\\u0000"}]' }, /data: Invalid JSON: a string holds NUL$/],
    [{ table: 'T', where: '{"\\ud800":1}' }, /where: Invalid JSON: a string holds half of a surrogate pair$/],
    [{ table: 'T', where: `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}` }, /where: Invalid JSON: nested too deep$/],
    [{ table: 'T', data: [{}, {}, {}] }, /data must have at most 2 items/],
    [{ table: 'T', data: [] }, /data must not be empty/],
    [{ table: 'T', data: [1] }, /data\[0\] must be an object/],
    [{ table: 'T', at: 'tomorrow' }, /at must be a date and time in ISO 8601/],
    [{ table: 'T', at: '2026-02-30' }, /at must be a date/],
    [{ table: 'T', kind: 'c' }, /kind must be one of a, b/],
    [{ table: 'T', objectId: 'short' }, /objectId must have exactly 10 characters/],
    [{ table: 'T', pageId: 'short' }, /pageId must have 24 hexadecimal characters/],
    [{ table: 'T', keys: ['a', 5] }, /keys\[1\] must be of type string/],
    [{ table: 'T', Limit: 5 }, /Limit is unknown/],
    [{ table: 'T', __proto__x: 5 }, /__proto__x is unknown/],
  ];
  for (const [args, text] of cases)
    await assert.rejects(call(args), (error) => {
      const told = describeError(error);
      assert.equal(told.code, 107);
      assert.match(told.error, text, JSON.stringify(args));
      assert.match(String(told.expected), /^It takes table: string \(required\), keys: array/);
      return true;
    });
});

test('the schema that clients see has no more words than it needs', () => {
  assert.deepEqual(echo.inputSchema, {
    type: 'object',
    properties: {
      table: { type: 'string' },
      keys: { type: 'array', items: { type: 'string' } },
      limit: { default: 5, type: 'integer', minimum: 0, maximum: 2000 },
      skip: { default: 0, type: 'integer', minimum: 0 },
      where: { type: 'object' },
      data: { type: 'array', items: { type: 'object' } },
      at: { type: 'string', format: 'date-time' },
      kind: { type: 'string', enum: ['a', 'b'] },
      objectId: { type: 'string', minLength: 10, maxLength: 10 },
      pageId: { type: 'string', pattern: '^[0-9a-f]{24}$' },
    },
    required: ['table'],
    additionalProperties: false,
  });
});

test('a refusal names the table that the arguments name, whatever they are', () => {
  const denied = (args: unknown) => echo.denies(args).className;
  assert.deepEqual(
    ['Accounts', '_SCHEMA', '_SCHEMA', '_SCHEMA'],
    [denied({ table: 'Accounts' }), denied({ table: 5 }), denied(null), denied('x')],
  );
});
