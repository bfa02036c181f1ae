import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServiceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { applyChanges, emptySchema } from './change.ts';
import { planTable, planTableChange } from './definition.ts';
import { describeTable } from './describe.ts';
import { type Schema, tableOf } from './model.ts';

const fields = {
  ...{ s: { type: 'String' }, n: { type: 'Number' }, h: { type: 'HTML/XML' }, d: { type: 'Date' } },
  ...{ list: { type: 'Array' }, o: { type: 'Object' }, f: { type: 'File' }, r: { type: 'Relation', targetClass: 'T' } },
  full: { type: 'String', required: true, defaultValue: 'x' },
};
const uniqueIndexes = { one: { fields: ['s'] }, both: { fields: ['n', 's'] } };
const base = applyChanges(emptySchema, planTable(emptySchema, 'T', { fields, uniqueIndexes }));
const change = (body: JsonObject, schema: Schema = base, className = 'T') => planTableChange(schema, className, body);
const after = (body: JsonObject) => tableOf(applyChanges(base, change(body)), 'T');

describe('uniqueIndexes, required and defaultValue of a definition', () => {
  test('are made with a table, and described as clients send them back', () => {
    const described = describeTable(tableOf(base, 'T'));
    assert.deepEqual(described.uniqueIndexes, uniqueIndexes);
    assert.deepEqual((described.fields as JsonObject).full, { type: 'String', required: true, defaultValue: 'x' });
    assert.deepEqual(change({ fields: { full: { type: 'String', required: true, defaultValue: 'x' } }, uniqueIndexes }), []);
    assert.deepEqual(change({ fields: { full: { type: 'String' } }, uniqueIndexes: { one: { fields: ['s'], as: 'text' } } }), []);
  });

  const options: [definition: JsonObject, left: JsonObject][] = [
    [{ type: 'String', required: false }, { defaultValue: 'x' }],
    [{ type: 'String', defaultValue: null }, { required: true }],
    [{ type: 'String', required: false, defaultValue: null }, {}],
    [
      { type: 'String', defaultValue: 'y' },
      { required: true, defaultValue: 'y' },
    ],
  ];
  for (const [definition, left] of options)
    test(`options that are left out stay: ${JSON.stringify(definition)}`, () => {
      const { name: _, type: __, column: ___, ...found } = after({ fields: { full: definition } }).fields.get('full') ?? {};
      assert.deepEqual(found, left);
    });

  test('an index goes by Delete or with its field, and another takes its name', () => {
    const replaced = after({ uniqueIndexes: { one: { __op: 'Delete' }, ONE: { fields: ['s'], as: 'nocase' } } });
    assert.deepEqual([...replaced.uniqueIndexes.values()].at(-1), { name: 'ONE', fields: ['s'], as: 'nocase' });
    assert.deepEqual([...after({ fields: { n: { __op: 'Delete' } } }).uniqueIndexes.keys()], ['one']);
    const again = after({ fields: { n: { __op: 'Delete' } }, uniqueIndexes: { both: { fields: ['d'] } } });
    assert.deepEqual([...again.uniqueIndexes.keys()], ['one', 'both']);
  });

  const longDefault = { type: 'String', defaultValue: 'x'.repeat(7_000) };
  const bad: [body: string, code: number, text: RegExp][] = [
    ['{"fields":{"n":{"type":"Number","required":"yes"}}}', 107, /required of field n/],
    ['{"fields":{"n":{"type":"Number","required":null}}}', 107, /required of field n/],
    ['{"fields":{"r":{"type":"Relation","targetClass":"T","required":true}}}', 255, /Relation/],
    ['{"fields":{"f":{"type":"File","defaultValue":{}}}}', 255, /File/],
    ['{"fields":{"new":{"type":"Relation","targetClass":"T","defaultValue":[]}}}', 255, /Relation/],
    [`{"fields":{"s":{"type":"String","defaultValue":"${'x'.repeat(10_000)}"}}}`, 107, /10000 characters/],
    [
      JSON.stringify({ fields: Object.fromEntries(['d1', 'd2', 'd3'].map((name) => [name, longDefault])) }),
      ...([107, /default values of T may have 20000 characters/] as const),
    ],
    ['{"uniqueIndexes":[]}', 107, /uniqueIndexes/],
    ['{"uniqueIndexes":{"x":[]}}', 107, /unique index x/],
    ['{"uniqueIndexes":{"x":{}}}', 107, /fields/],
    ['{"uniqueIndexes":{"x":{"fields":[]}}}', 107, /fields/],
    ['{"uniqueIndexes":{"x":{"fields":"s"}}}', 107, /fields/],
    ['{"uniqueIndexes":{"x":{"fields":[5]}}}', 107, /fields/],
    ['{"uniqueIndexes":{"x":{"fields":["s","s"]}}}', 107, /twice/],
    ['{"uniqueIndexes":{"x":{"fields":["s"],"strange":1}}}', 107, /strange/],
    ['{"uniqueIndexes":{"x":{"fields":["s"],"as":"CASE"}}}', 107, /text, nocase, phone/],
    ['{"uniqueIndexes":{"x":{"fields":["s"],"as":"constructor"}}}', 107, /text, nocase, phone/],
    ['{"uniqueIndexes":{"x":{"fields":["a","b","c","d","e","f","g","h","i"]}}}', 107, /8 fields/],
    ['{"uniqueIndexes":{"a b":{"fields":["s"]}}}', 105, /a b/],
    ['{"uniqueIndexes":{"__proto__":{"fields":["s"]}}}', 105, /__proto__/],
    ['{"uniqueIndexes":{"x":{"fields":["nowhere"]}}}', 255, /does not exist/],
    ['{"uniqueIndexes":{"x":{"fields":["constructor"]}}}', 255, /does not exist/],
    ...['list', 'o', 'f', 'r', 'ACL'].map((name): [string, number, RegExp] => [
      `{"uniqueIndexes":{"x":{"fields":["s","${name}"]}}}`,
      255,
      new RegExp(`Field ${name} is of type`),
    ]),
    ...['n', 'h', 'd'].map((name): [string, number, RegExp] => [
      `{"uniqueIndexes":{"x":{"fields":["s","${name}"],"as":"phone"}}}`,
      255,
      /cannot be unique as phone/,
    ]),
    ['{"uniqueIndexes":{"x":{"fields":["createdBy"]}}}', 255, /written by the service/],
    ['{"uniqueIndexes":{"x":{"__op":"Delete"}}}', 255, /does not exist/],
    ['{"uniqueIndexes":{"one":{"fields":["n"]}}}', 255, /exists/],
    ['{"uniqueIndexes":{"one":{"fields":["s"],"as":"nocase"}}}', 255, /exists/],
    ['{"uniqueIndexes":{"ONE":{"fields":["s"]}}}', 255, /exists/],
    [
      JSON.stringify({ uniqueIndexes: Object.fromEntries(Array.from({ length: 19 }, (_, at) => [`i${at}`, { fields: ['d'] }])) }),
      255,
      /20 unique indexes/,
    ],
  ];
  const refused = (code: number, text: RegExp, plan: () => unknown) =>
    assert.throws(plan, (error) => error instanceof ServiceError && error.code === code && text.test(error.message));
  for (const [body, code, text] of bad)
    test(`refused with ${code}: ${body.slice(0, 100)}`, () => refused(code, text, () => change(JSON.parse(body))));

  test('fields of system tables: those that clients add, where callers write all records', () => {
    const plan = (className: string, name: string) => () => {
      const schema = applyChanges(emptySchema, planTable(emptySchema, className, { fields: { [name]: { type: 'String' } } }));
      change(
        { fields: { [name]: { type: 'String', required: true } }, uniqueIndexes: { x: { fields: [name] } } },
        schema,
        className,
      );
    };
    for (const [className, name] of [
      ['_User', 'badge'],
      ['_Role', 'badge'],
      ['Config', 'badge'],
      ['Accounts', 'ExternalId'],
    ])
      assert.doesNotThrow(plan(className as string, name as string));
    for (const [className, name] of [
      ['_User', 'username'],
      ['Config', 'Name'],
      ['_Timeline', 'badge'],
      ['_Session', 'badge'],
    ])
      refused(255, /written by the service/, plan(className as string, name as string));
  });
});
