import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject, JsonValue } from '../kernel/json.ts';
import type { Field } from '../schema/model.ts';
import { fieldsText, textAhead } from './json/checked-ahead.ts';
import { checkAhead, forgetChecked } from './large-values.ts';
import { flattenForCreate, parseOperator } from './operators/parse.ts';
import { aclType } from './types/acl.ts';
import { arrayType, objectType } from './types/plain-types.ts';

const list = { name: 'List', type: 'Array', column: 'List' } as Field;
const data = { name: 'Data', type: 'Object', column: 'Data' } as Field;

const many = (count: number, of: (n: number) => JsonValue): JsonValue[] => Array.from({ length: count }, (_, n) => of(n));
const keyed = (count: number, of: (n: number) => JsonValue): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, of(n)]));
const nested = (levels: number, inner: JsonValue): JsonValue => (levels === 0 ? inner : [{ a: nested(levels - 2, inner) }, 'b"']);
const date = { __type: 'Date', iso: '2026-11-29T10:00:00.000Z' };
const included = { __type: 'Object', className: 'Accounts', objectId: 'a', Name: 'x' };

/** Values, and whether they are so large that they are checked ahead. */
const values: readonly (readonly [string, JsonValue])[] = [
  ['numbers', many(45_000, (n) => n / 2)],
  ['texts', many(3_000, (n) => `${'"\\é'.repeat(500)}${n}`)],
  ['one text', ['x'.repeat(3_000_000)]],
  ['long texts among others', [1, '"\n😀'.repeat(600_000), { a: 'b', c: '\\é'.repeat(800_000) }]],
  ['a long name', { [`a${'😀"'.repeat(400_000)}`]: 1, b: '"'.repeat(2_000_000), c: 2 }],
  ['objects', many(30_000, (n) => ({ a: n, b: [null, true], 'ש"': {} }))],
  ['keys', keyed(25_000, (n) => n)],
  ['heavy members', keyed(5, () => many(30_000, (n) => ({ a: n })))],
  ['a heavy member among light ones', [1, many(25_000, String), 2, { a: many(25_000, String) }]],
  [
    'what is nested deeply',
    nested(
      80,
      many(25_000, (n) => n),
    ),
  ],
  ['Dates and Pointers', many(20_000, (n) => (n % 2 ? date : { __type: 'Pointer', className: 'Accounts', objectId: `a${n}` }))],
  ['included records', [...many(20_000, (n) => n), ...many(20_000, () => included), many(30_000, () => 1), included]],
  ['nothing inside', many(25_000, () => [])],
  // Those with a fault.
  ['a forbidden key at the end', [...many(25_000, (n) => n), JSON.parse('{"__proto__":1}')]],
  ['a key with a dot', { ...keyed(25_000, (n) => n), 'a.b': 1 }],
  ['a key with a dollar sign before a heavy value', { a: 1, $b: many(25_000, (n) => n) }],
  ['a malformed Date', [many(25_000, (n) => n), { __type: 'Date', iso: 'today' }]],
  ['a heavy object that is no Pointer', [{ __type: 'Pointer', ...keyed(25_000, (n) => n) }]],
  [
    'too many levels',
    nested(
      120,
      many(25_000, (n) => n),
    ),
  ],
];

/** Returns the stored text, or the error. */
function decoded(value: JsonValue): unknown {
  const [type, field] = Array.isArray(value) ? [arrayType, list] : [objectType, data];
  try {
    return type.decode(value, field, 'Table');
  } catch (error) {
    const { key, message } = error as { key: string; message: string };
    return { key, message };
  }
}

for (const [what, value] of values)
  test(`a value that is checked ahead is stored as otherwise: ${what}`, async () => {
    const expected = decoded(structuredClone(value));
    await checkAhead({ Value: value, small: 1 }, 'app', 'create');
    assert.deepEqual(decoded(value), expected);
    const isIncluded = what === 'included records';
    if (typeof expected === 'string' && !isIncluded) {
      assert.equal(textAhead(value as JsonObject), expected);
      assert.equal(fieldsText({ a: 1, Value: value, b: 'x' }), JSON.stringify({ a: 1, Value: value, b: 'x' }));
    }
  });

test('the JSON text of a long string is written ahead where a log has it', async () => {
  // Pieces would end between the halves of a pair.
  const fields = { Text: `a${'😀'.repeat(1_200_000)}`, Other: 'b' };
  await checkAhead(fields, 'app', 'create', true);
  const { stringify } = JSON;
  const expected = stringify(fields);
  try {
    JSON.stringify = ((value: unknown) => {
      assert.ok(typeof value !== 'string' || value.length < 1_000_000);
      return stringify(value);
    }) as typeof stringify;
    assert.equal(fieldsText(fields), expected);
    assert.equal(fieldsText({ Text: fields.Text }), stringify({ Text: fields.Text }));
  } finally {
    JSON.stringify = stringify;
  }
  forgetChecked(fields);
  assert.equal(fieldsText(fields), expected);
});

test('an ACL of many entities is decoded as a short one is', async () => {
  const acl = Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`u${n}`, { read: n % 2 === 0, write: true }]));
  const decodedAcl = (value: JsonValue) => aclType.decode(value, undefined as never, 'T');
  const expected = decodedAcl(structuredClone(acl));
  assert.equal(expected, `{${many(5_001, (n) => `"u${n}":{${n % 2 === 0 ? '"read":true,' : ''}"write":true}`).join(',')}}`);
  await checkAhead({ ACL: acl }, 'app', 'create');
  assert.equal(decodedAcl(acl), expected);
  const faulty = { ...acl, '*unresolved': { read: true } };
  await checkAhead({ ACL: faulty }, 'app', 'create');
  assert.throws(() => decodedAcl(faulty), { key: 'invalidAcl' });
});

for (const op of ['AddUnique', 'Add', 'Remove'])
  test(`the operands of ${op} are checked ahead`, async () => {
    const objects = [...many(40_000, (n) => n % 30_000), included, ...many(10, () => ({ a: [1] }))];
    const operator = { __op: op, objects };
    const expected = flattenForCreate(parseOperator(structuredClone(operator)));
    await checkAhead({ List: operator }, 'app', 'create');
    const made = flattenForCreate(parseOperator(operator));
    assert.deepEqual(made, expected);
    assert.equal(decoded(made as JsonValue), JSON.stringify(expected));
  });

test('a fault of an operand is thrown where it is used', async () => {
  const objects = [...many(25_000, (n) => n), { 'a.b': 1 }];
  await checkAhead({ List: { __op: 'AddUnique', objects } }, 'app', 'create');
  assert.throws(() => parseOperator({ __op: 'AddUnique', objects }), { key: 'invalidNestedKey' });
});

test('a value that changes after it was stored is checked again', async () => {
  const value: JsonValue[] = many(25_000, (n) => n);
  const fields = { List: value };
  await checkAhead(fields, 'app', 'create');
  forgetChecked(fields);
  value.length = 1;
  assert.equal(decoded(value), '[0]');
  await checkAhead(
    {
      List: Object.assign(
        value,
        many(25_000, () => 1),
      ),
    },
    'app',
    'update',
  );
  value.length = 2;
  await checkAhead(fields, 'app', 'update');
  assert.equal(decoded(value), '[1,1]');
});
