import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { JsonObject } from '../../../kernel/json.ts';
import { inputCheck } from './input.ts';

/** Returns the validated input, or the text of the rejection. */
async function checked(schema: unknown, input: JsonObject, isForm = false): Promise<unknown> {
  const checked = await (await inputCheck(schema))(input, isForm);
  return 'refusal' in checked ? checked.refusal : checked.value;
}

test('without a schema the input is as it came', async () => {
  const input = JSON.parse('{"__proto__": 1, "a": [null]}');
  assert.equal(await checked(undefined, input), input);
});

test('a Standard Schema says what the input becomes; refusals name places and reasons', async () => {
  const schema = z.object({ name: z.string().trim(), rows: z.array(z.object({ total: z.number() })).default([]) });
  assert.deepEqual(await checked(schema, { name: ' a ', other: 1 }), { name: 'a', rows: [] });
  assert.equal(
    await checked(schema, { name: 5, rows: [{ total: 1 }, { total: 'secret value' }] }),
    'name: Invalid input: expected string, received number; rows.1.total: Invalid input: expected number, received string',
  );
  const whole = z.object({}).refine(async () => false, 'never good');
  assert.equal(await checked(whole, {}), 'input: never good');
});

test('any library that keeps the standard will do, functions too', async () => {
  const validate = (value: unknown) =>
    (value as JsonObject).ok === true ? { value: 'yes' } : { issues: [{ message: 'no', path: [{ key: 'deep' }, 1, 'ok'] }] };
  const schema = Object.assign(() => {}, { '~standard': { version: 1, vendor: 'own', validate } });
  assert.equal(await checked(schema, { ok: true }), 'yes');
  assert.equal(await checked(schema, { ok: 'secret value' }), 'deep.1.ok: no');
});

test('a JSON Schema checks, and fills defaults in; the caller’s object stays as it is', async () => {
  const schema = {
    type: 'object',
    required: ['email', 'deep'],
    additionalProperties: false,
    properties: {
      email: { type: 'string', format: 'email' },
      kind: { enum: ['a', 'b'], default: 'a' },
      deep: { type: 'object', required: ['x/y'], properties: { 'x/y': { type: 'integer' } } },
    },
  };
  const input = { email: 'a@b.co', deep: { 'x/y': 1 } };
  assert.deepEqual(await checked(schema, input), { ...input, kind: 'a' });
  assert.equal('kind' in input, false);
  const refused = await checked(schema, {
    email: 'secret value',
    kind: 'secret value',
    deep: { 'x/y': 'secret value' },
    more: 1,
  });
  assert.equal(
    refused,
    'input: must NOT have additional properties; email: must match format "email"; kind: must be equal to one of the allowed values; deep.x/y: must be integer',
  );
  assert.equal(await checked(schema, { deep: {} }), 'email: is missing; deep.x/y: is missing');
});

test('texts become what a JSON Schema asks for where a form or a query brought them, and only there', async () => {
  const schema = {
    type: 'object',
    properties: { count: { type: 'integer' }, yes: { type: 'boolean' }, tags: { type: 'array', items: { type: 'string' } } },
  };
  const sent = { count: '5', yes: 'true', tags: 'a' };
  assert.deepEqual(await checked(schema, sent, true), { count: 5, yes: true, tags: ['a'] });
  assert.equal(await checked(schema, sent), 'count: must be integer; yes: must be boolean; tags: must be array');
  assert.equal(await checked(schema, { count: 'many', yes: 'on' }, true), 'count: must be integer; yes: must be boolean');
  // A field that was not filled in.
  assert.deepEqual(await checked(schema, { count: '', yes: 'true' }, true), { yes: true });
});

test('draft 7 counts where a schema says so', async () => {
  const tuple = { type: 'object', properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } } };
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', ...tuple };
  assert.equal(await checked(draft7, { pair: [1, 'a'] }), 'pair.0: must be string; pair.1: must be number');
  await assert.rejects(inputCheck(tuple), /schema is invalid/);
  assert.deepEqual(await checked(z.toJSONSchema(z.object({ a: z.string() })), { a: 'b' }), { a: 'b' });
});

test('a refusal is no longer than a person reads', async () => {
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`field${n}`, { type: 'string' }]));
  const input = Object.fromEntries(Object.keys(fields).map((name) => [name, 1]));
  const text = (await checked({ type: 'object', properties: fields }, input)) as string;
  assert.ok(text.length > 900 && text.length < 1_010, String(text.length));
  assert.match(text, /^field0: must be string; .*; …$/);
  const long = (await checked(
    { type: 'object', additionalProperties: { type: 'string' } },
    { ['k'.repeat(5_000)]: 1 },
  )) as string;
  assert.equal(long.length, 1_001);
});

test('items are distinguished by what they are, in a time that does not grow by its square', async () => {
  const schema = { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } };
  const twice = 'list: must NOT have duplicate items';
  for (const [list, refused] of [
    [[1, '1', true, null, 'true', [1], ['1'], {}], false],
    [
      [
        { a: 1, b: { c: 1, d: 2 } },
        { b: { d: 2, c: 1 }, a: 1 },
      ],
      true,
    ],
    [[{ a: 1 }, { a: 2 }, { b: 1 }], false],
    [
      [
        [1, 2],
        [2, 1],
      ],
      false,
    ],
    [[1.0, 1], true],
  ] as const)
    assert.deepEqual(await checked(schema, { list } as never), refused ? twice : { list }, JSON.stringify(list));
  assert.equal(await checked(schema, { list: 'a' }), 'list: must be array');
  assert.deepEqual(await checked({ properties: { list: { uniqueItems: false } }, type: 'object' }, { list: [1, 1] }), {
    list: [1, 1],
  });
  const started = performance.now();
  const list = Array.from({ length: 20_000 }, (_, i) => ({ i }));
  await checked(schema, { list });
  assert.equal(await checked(schema, { list: [...list, { i: 5 }] }), twice);
  assert.ok(performance.now() - started < 2_000, `${performance.now() - started} ms`);
});

test('a bound saves what comes after it; of a large input the first reason is reported', async () => {
  const schema = {
    type: 'object',
    properties: {
      text: { type: 'string', maxLength: 50, pattern: '^(a+)+$' },
      list: { type: 'array', maxItems: 2, items: { type: 'string' } },
    },
  };
  // Its pattern would take longer than the test.
  assert.equal(await checked(schema, { text: `${'a'.repeat(10_000)}!` }), 'text: must NOT have more than 50 characters');
  assert.equal(
    await checked(schema, { list: Array.from({ length: 10_000 }, (_, i) => i) }),
    'list: must NOT have more than 2 items',
  );
  assert.equal(await checked(schema, { list: [1, 'a', 'b'] }), 'list: must NOT have more than 2 items; list.0: must be string');
});

test('what is no schema is no definition', async () => {
  for (const wrong of [
    null,
    5,
    'text',
    [],
    { type: 'no type' },
    { propertis: {} },
    { $ref: 'https://elsewhere.test/x' },
    { $async: true },
  ])
    await assert.rejects(inputCheck(wrong), Error, JSON.stringify(wrong));
});
