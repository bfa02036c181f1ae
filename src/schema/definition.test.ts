import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ServiceError } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { applyChange, emptySchema } from './change.ts';
import { definedClass, planTable, planTableChange } from './definition.ts';
import { describeTable } from './describe.ts';
import type { Schema, TableSchema } from './model.ts';

const made = (body: JsonObject, before: Schema = emptySchema, className = 'T'): Schema =>
  planTable(before, className, body).reduce(applyChange, before);
const changed = (schema: Schema, body: JsonObject): Schema => planTableChange(schema, 'T', body).reduce(applyChange, schema);
const table = (schema: Schema): TableSchema => schema.tables.get('T') as TableSchema;
const refused = (code: number, text: RegExp | string, attempt: () => unknown) =>
  assert.throws(attempt, (error: unknown) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, typeof text === 'string' ? new RegExp(`^${text}$`) : text);
    return true;
  });

const base = made({
  fields: { s: { type: 'String' }, html: { type: 'HTML/XML' }, n: { type: 'Number' }, list: { type: 'Array' } },
  indexes: { byN: { n: 1 }, byBoth: { n: -1, s: 1 } },
  textIndex: ['s', 'html'],
});

describe('planTable and planTableChange', () => {
  test('a table has the default fields first, then those of the body', () => {
    const schema = made({
      fields: { up: { type: 'Pointer', targetClass: 'Elsewhere' }, all: { type: 'Relation', targetClass: 'T' } },
    });
    assert.deepEqual(
      [...table(schema).fields.keys()],
      ['objectId', 'createdAt', 'updatedAt', 'ACL', 'createdBy', 'updatedBy', 'up', 'all'],
    );
    assert.equal(table(schema).fields.get('up')?.targetClass, 'Elsewhere');
    assert.deepEqual(
      schema.referencesTo.get('Elsewhere')?.map(({ field }) => field.name),
      ['up'],
    );
  });

  test('names that SQL would fold together, or keeps for itself, get columns of their own', () => {
    const type = { type: 'String' };
    const columns = [...table(made({ fields: { Name: type, name: type, rank: type, rowid: type } })).fields.values()].map(
      (f) => f.column,
    );
    assert.equal(new Set(columns.map((column) => column.toLowerCase())).size, columns.length);
    assert.ok(!columns.includes('rank') && !columns.includes('rowid'));
    const relation = { fields: { r: { type: 'Relation', targetClass: 'T' } } };
    const both = made(relation, made(relation), 't');
    const joins = [...both.tables.values()].map((each) => each.fields.get('r')?.column.toLowerCase());
    assert.equal(new Set(joins).size, 2);
  });

  test('triggers, which reads show, are passed over', () => {
    assert.deepEqual(planTableChange(base, 'T', { triggers: [{ _id: 'x' }] }), []);
    assert.equal(planTable(base, 'Other', { triggers: 5 }).length, 1);
  });

  test('a change adds and deletes fields; indexes and the text index lose a deleted field', () => {
    const after = table(changed(base, { fields: { fresh: { type: 'Date' }, n: { __op: 'Delete' }, s: { __op: 'Delete' } } }));
    assert.deepEqual([...after.fields.keys()].slice(6), ['html', 'list', 'fresh']);
    assert.deepEqual([after.indexes.size, after.textIndex], [0, ['html']]);
  });

  test('a field or an index as it already is changes nothing', () => {
    const same = { fields: { n: { type: 'Number' } }, indexes: { byN: { n: 1 } } } satisfies JsonObject;
    assert.deepEqual(planTableChange(base, 'T', same), []);
  });

  test('an index may take the place of one that the same body takes away', () => {
    const indexes = { byN: { __op: 'Delete' }, BYN: { s: -1 }, fresh: { later: 1, createdAt: -1 } } satisfies JsonObject;
    const after = table(changed(base, { fields: { later: { type: 'Date' } }, indexes }));
    assert.deepEqual([...after.indexes.keys()], ['byBoth', 'BYN', 'fresh']);
    assert.deepEqual(after.indexes.get('fresh')?.keys, [['later', 1], ['createdAt', -1]]); // biome-ignore format: pairs
    const replaced = table(changed(base, { fields: { n: { __op: 'Delete' } }, indexes: { byN: { s: 1 } } }));
    assert.deepEqual([...replaced.indexes.keys()], ['byN']);
  });

  test('textIndex: an empty list takes it away; a name given twice counts once', () => {
    assert.deepEqual(table(changed(base, { textIndex: [] })).textIndex, []);
    assert.deepEqual(table(changed(base, { textIndex: ['html', 'html'] })).textIndex, ['html']);
  });

  test('timeline: on with its settings, off with null', () => {
    const on = changed(base, { timeline: { displayFields: { s: true } } });
    assert.deepEqual(table(on).timeline, { displayFields: { s: true }, index: {} });
    assert.ok(!('timeline' in table(changed(on, { timeline: null }))));
  });

  const bad: [body: string, code: number, text: string | RegExp][] = [
    ['{"fields":[]}', 107, /fields/],
    ['{"fields":{"f":"String"}}', 107, /definition of field f/],
    ['{"fields":{"f":{}}}', 107, /type of field f/],
    ['{"fields":{"f":{"__op":"Increment"}}}', 107, /Delete/],
    ['{"fields":{"f":{"type":"Strange"}}}', 111, 'invalid field type: Strange'],
    ['{"fields":{"f":{"type":"constructor"}}}', 111, 'invalid field type: constructor'],
    ['{"fields":{"f":{"type":"ACL"}}}', 111, 'invalid field type: ACL'],
    ['{"fields":{"f":{"type":"Pointer"}}}', 135, /class name/],
    ['{"fields":{"f":{"type":"Pointer","targetClass":5}}}', 107, /targetClass/],
    ['{"fields":{"f":{"type":"Pointer","targetClass":"a b"}}}', 103, /Invalid class name/],
    ['{"fields":{"f":{"type":"String","strange":true}}}', 255, /strange/],
    ['{"fields":{"a b":{"type":"String"}}}', 105, /Invalid field name/],
    ['{"fields":{"_f":{"type":"String"}}}', 105, /Invalid field name/],
    ['{"fields":{"__proto__":{"type":"String"}}}', 105, /Invalid field name/],
    ['{"fields":{"objectId":{"type":"String"}}}', 136, 'field objectId cannot be added'],
    ['{"fields":{"createdBy":{"__op":"Delete"}}}', 136, 'field createdBy cannot be changed'],
    ['{"fields":{"f":{"__op":"Delete"}}}', 255, 'Field f does not exist, cannot delete.'],
    ['{"fields":{"n":{"type":"String"}}}', 255, 'Field n exists, cannot update.'],
    ['{"indexes":[]}', 107, /indexes/],
    ['{"indexes":{"x":{}}}', 107, /index x/],
    ['{"indexes":{"x":{"n":"DESC"}}}', 107, /direction/],
    ['{"indexes":{"a b":{"n":1}}}', 105, /Invalid field name/],
    ['{"indexes":{"x":{"nowhere":1}}}', 255, 'Field nowhere does not exist, cannot add index.'],
    ['{"indexes":{"x":{"constructor":1}}}', 255, /does not exist/],
    ['{"indexes":{"x":{"list":1}}}', 255, /of type Array/],
    ['{"indexes":{"x":{"__op":"Delete"}}}', 255, 'Index x does not exist, cannot delete.'],
    ['{"indexes":{"byN":{"n":-1}}}', 255, 'Index byN exists, cannot update.'],
    ['{"indexes":{"BYN":{"n":1}}}', 255, 'Index BYN exists, cannot update.'],
    ['{"textIndex":"s"}', 107, /textIndex/],
    ['{"textIndex":[5]}', 107, /textIndex/],
    ['{"textIndex":["n"]}', 255, /of type Number/],
    ['{"textIndex":["nowhere"]}', 255, /does not exist/],
    ['{"timeline":true}', 107, /timeline/],
    ['{"timeline":{"index":[]}}', 107, /timeline.index/],
    ['{"timeline":{"index":{"__proto__":1}}}', 105, /__proto__/],
    ['{"strange":1}', 107, /strange/],
    ['{"__proto__":{"fields":{}}}', 107, /__proto__/],
    ['{"classLevelPermissions":{"peek":{}}}', 107, /peek/],
  ];
  for (const [body, code, text] of bad)
    test(`refused with ${code}: ${body}`, () => refused(code, text, () => planTableChange(base, 'T', JSON.parse(body))));

  test('a table that is there, one that is not, and names that break the rule are 103', () => {
    refused(103, 'Class T already exists.', () => planTable(base, 'T', {}));
    refused(103, 'Class U does not exist.', () => planTableChange(base, 'U', {}));
    for (const name of ['', '1a', 'a b', '__proto__', 'x'.repeat(limits.nameLength + 1)])
      refused(103, /^Invalid class name/, () => planTable(base, name, {}));
  });

  test('no table gets more fields than the limit', () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, { type: 'String' }]));
    const free = limits.fieldsPerTable - 6;
    assert.equal(table(made({ fields: fields(free) })).fields.size, limits.fieldsPerTable);
    refused(136, /cannot be added/, () => made({ fields: fields(free + 1) }));
  });

  test('fields that the service relies on stay in its own tables, and only there', () => {
    const fields = { username: { type: 'String' }, extra: { type: 'String' } } satisfies JsonObject;
    const users = made({ fields }, base, '_User');
    refused(136, /username/, () => planTableChange(users, '_User', { fields: { username: { __op: 'Delete' } } }));
    assert.equal(planTableChange(users, '_User', { fields: { extra: { __op: 'Delete' } } }).length, 1);
    assert.equal(planTableChange(made({ fields }), 'T', { fields: { username: { __op: 'Delete' } } }).length, 1);
  });
});

test('a field that follows another goes with it, and nobody names it', () => {
  const accounts = made({ fields: { PhoneNumber: { type: 'String' } } }, emptySchema, 'Accounts');
  const follower = { kind: 'addField', className: 'Accounts', name: '_phone_key', type: 'String' } as const;
  const drop = { fields: { PhoneNumber: { __op: 'Delete' } } };
  const dropped = (schema: Schema) => planTableChange(schema, 'Accounts', drop).map((change) => 'name' in change && change.name);
  assert.deepEqual(dropped(accounts), ['PhoneNumber']);
  const schema = applyChange(accounts, follower);
  assert.deepEqual(dropped(schema), ['PhoneNumber', '_phone_key']);
  const change = (body: JsonObject) => () => planTableChange(schema, 'Accounts', body);
  refused(105, /_phone_key/, change({ fields: { _phone_key: { type: 'String' } } }));
  refused(136, /_phone_key/, change({ fields: { _phone_key: { __op: 'Delete' } } }));
  refused(107, /_phone_key/, change({ classLevelPermissions: { protectedFields: { '*': ['_phone_key'] } } }));
  refused(255, /_phone_key/, change({ indexes: { probe: { _phone_key: 1 } } }));
});

test('definedClass: the path names the class, or the body where the path has none', () => {
  assert.deepEqual(
    [definedClass('A', {}), definedClass('A', { className: 'A' }), definedClass(undefined, { className: 'B' })],
    ['A', 'A', 'B'],
  );
  refused(103, 'Class name mismatch between B and A.', () => definedClass('A', { className: 'B' }));
  refused(135, /class name/, () => definedClass(undefined, {}));
  refused(107, /className/, () => definedClass('A', { className: 5 }));
});

test('describeTable: the schema record, without the text index', () => {
  assert.deepEqual(describeTable(table(made({ fields: { p: { type: 'Pointer', targetClass: 'U' } } })), new Map([['p', 'שם']])), {
    className: 'T',
    fields: {
      objectId: { type: 'String' },
      createdAt: { type: 'Date' },
      updatedAt: { type: 'Date' },
      ACL: { type: 'ACL' },
      createdBy: { type: 'Pointer', targetClass: '_User' },
      updatedBy: { type: 'Pointer', targetClass: '_User' },
      p: { type: 'Pointer', targetClass: 'U', dictionary: 'שם' },
    },
    classLevelPermissions: { find: {}, get: {}, create: {}, update: {}, delete: {}, addField: {} },
  });
  const full = describeTable(table(changed(base, { timeline: { index: {} }, classLevelPermissions: { count: { '*': true } } })));
  assert.deepEqual(full.indexes, { byN: { n: 1 }, byBoth: { n: -1, s: 1 } });
  assert.deepEqual(full.timeline, { displayFields: {}, index: {} });
  assert.deepEqual((full.classLevelPermissions as JsonObject).count, { '*': true });
  assert.ok(!('textIndex' in full));
});
