import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, type Grant, master } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { newTable } from '../../schema/defaults.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { AggregateParameters, buildAggregation } from './index.ts';

const fields = new Map<string, Field>(newTable('Sales', 'Sales').fields);
for (const [name, type] of [
  ['n', 'Number'],
  ['tags', 'Array'],
  ['secret', 'String'],
] as const)
  fields.set(name, { name, type, column: name });
const table: TableSchema = { ...newTable('Sales', 'Sales'), fields };
const scope = { schema: { version: 1, tables: new Map([['Sales', table]]), referencesTo: new Map() }, principal: master };
const grant: Grant = { ...authorize(master, 'find', table), hiddenFields: new Set(['secret']) };
const parse = (parameters: Record<string, JsonValue>) =>
  buildAggregation(new AggregateParameters(new Map(Object.entries(parameters))), grant, scope);

const nested = (levels: number): JsonValue => (levels === 0 ? '$n' : { $abs: nested(levels - 1) });
/** Twelve stages that each double a value. */
const doubled = (stage: (of: string) => JsonValue): JsonValue =>
  Array.from({ length: 12 }, (_, at) => stage(at === 0 ? '$tags' : '$x'));
/** Returns a place that many levels below a field. */
const below = (field: string, levels: number) => [field, ...Array.from({ length: levels }, () => 'k')].join('.');
/** Returns members derived from their numbers. */
const members = <T extends JsonValue>(count: number, make: (at: number) => readonly [string, T]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));
const sorted = (keys: number) => ({ $sort: members(keys, (at) => [`tags.k${at}`, 1]) });
const refused: [pipeline: JsonValue, code: number, text: RegExp][] = [
  [[{ $lookup: {} }], 102, /^Invalid aggregate stage 'lookup'\.$/],
  [[{ constructor: {} }], 102, /^Invalid aggregate stage/],
  [[{ $match: {}, $limit: 1 }], 102, /^Pipeline stages should only have one key but found \$match, \$limit\.$/],
  [['$match'], 102, /objects/],
  [5, 102, /array/],
  [Array(51).fill({ $limit: 1 }), 102, /50 stages/],
  ['[{', 107, /not JSON/],
  [[{ $group: { n: { $sum: 1 } } }], 102, /^Invalid parameter for query: group\. Missing key _id$/],
  [[{ $group: { _id: null, n: { $stdDevPop: '$n' } } }], 102, /unknown group operator/],
  [[{ $group: { _id: null, n: '$n' } }], 102, /accumulator/],
  [[{ $group: { _id: null, 'a.b': { $sum: 1 } } }], 105, /^Invalid field name: a\.b$/],
  [[{ $group: { _id: { d: { $isoDay: '$n' } } } }], 102, /Unrecognized expression/],
  [[{ $group: { _id: '$secret' } }], 119, /secret/],
  [[{ $match: { secret: 1 } }], 119, /secret/],
  [[{ $limit: 1 }, { $match: { secret: 1 } }], 119, /secret/],
  [[{ $sort: { secret: 1 } }], 119, /secret/],
  [[{ $project: { secret: 1 } }], 119, /secret/],
  [[{ $project: { x: { $concat: ['$secret'] } } }], 119, /secret/],
  [[{ $unwind: '$secret' }], 119, /secret/],
  [[{ $match: 5 }], 102, /object/],
  [[{ $match: { n: { $foo: 1 } } }], 102, /foo/],
  [[{ $limit: 1 }, { $match: { n: { $all: [1] } } }], 102, /bad constraint: \$all/],
  [[{ $limit: 1 }, { $match: { k: { $regex: '(' } } }], 102, /regular expression/i],
  [[{ $limit: 1 }, { $match: { $or: {} } }], 102, /\$or/],
  [[{ $sort: { n: 2 } }], 102, /1 for ascending/],
  [[{ $sort: 'n' }], 102, /object/],
  [[{ $limit: -1 }], 102, /whole number/],
  [[{ $skip: 1.5 }], 102, /whole number/],
  [[{ $unwind: 'tags' }], 102, /path/],
  [[{ $unwind: { path: '$tags', other: 1 } }], 102, /other/],
  [[{ $count: '' }], 102, /name of a field/],
  [[{ $count: '$n' }], 105, /\$n/],
  [[{ $project: {} }], 102, /at least one/],
  [[{ $project: { n: 1, tags: 0 } }], 102, /both include and exclude/],
  [[{ $project: { o: '$n', 'o.q': '$n' } }], 102, /collision/],
  [[{ $project: { x: { $add: [1], $abs: 1 } } }], 102, /one operator/],
  [[{ $project: { x: { $divide: [1] } } }], 102, /\$divide takes 2 arguments/],
  [[{ $project: { x: '$$ROOT' } }], 102, /Variables/],
  [[{ $project: { x: '$' } }], 102, /not a field/],
  [[{ $project: { x: { $year: { date: '$createdAt', timezone: '+02:00' } } } }], 102, /UTC/],
  [[{ $project: { x: nested(51) } }], 102, /50 levels/],
  [[{ $project: { x: Array(101).fill(1) } }], 102, /at most 100/],
  [[{ $addFields: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`f${at}`, 1])) }], 102, /1000 parts/],
  [[{ $addFields: JSON.parse('{"__proto__":1}') }], 105, /__proto__/],
  [doubled((at) => ({ $addFields: { x: { $concat: [at, at] } } })), 102, /put together/],
  [doubled((at) => ({ $addFields: { x: [at, at] } })), 102, /put together/],
  [doubled((at) => ({ $group: { _id: { x: at, y: at }, x: { $push: [at, at] } } })), 102, /put together/],
  [[{ $sort: { 'a b': 1 } }], 105, /a b/],
  [[{ $project: members(12, (at) => [`${below('tags', 85)}.x${at}`, 0]) }], 102, /1000 parts/],
  [[{ $addFields: members(12, (at) => [`x${at}`, `$${below('tags', 85)}.x${at}`]) }], 102, /1000 parts/],
  [[{ $sort: members(12, (at) => [`${below('tags', 85)}.x${at}`, 1]) }], 102, /1000 parts/],
  [[{ $limit: 1 }, { $match: members(12, (at) => [`${below('tags', 85)}.x${at}`, 1]) }], 102, /1000 parts/],
  [[sorted(20), ...Array(49).fill({ $limit: 1 })], 102, /1000 parts/],
  [[sorted(20), { $group: { _id: null, ...members(50, (at) => [`x${at}`, { $first: '$n' }]) } }], 102, /1000 parts/],
  [[sorted(20), { $group: { _id: null, ...members(50, (at) => [`x${at}`, { $push: '$n' }]) } }], 102, /1000 parts/],
  [
    [{ $group: { _id: members(20, (at) => [`k${at}`, `$tags.k${at}`]), ...members(50, (at) => [`x${at}`, { $min: '$tags' }]) } }],
    102,
    /1000 parts/,
  ],
];
for (const [pipeline, code, text] of refused)
  test(`an aggregation refuses ${JSON.stringify(pipeline).slice(0, 80)}`, () => {
    assert.throws(
      () => parse({ pipeline }),
      (error) => error instanceof ServiceError && error.code === code && text.test(error.message),
    );
  });

const parameters: [parameters: Record<string, JsonValue>, code: number, text: RegExp][] = [
  [{ pipeline: '[{', foo: 1 }, 102, /^Invalid parameter for query: foo$/],
  [{ match: '{}' }, 102, /^Invalid parameter for query: match$/],
  [{ pipeline: '[]', group: '{}' }, 102, /^Invalid parameter for query: group$/],
  [{ limit: 'x' }, 102, /^Invalid value for parameter limit/],
  [{ where: '{' }, 1, /^server error/],
  [{ where: '[]' }, 1, /^server error/],
];
for (const [given, code, text] of parameters)
  test(`an aggregation refuses the parameters ${JSON.stringify(given)}`, () => {
    assert.throws(
      () => parse(given),
      (error) => error instanceof ServiceError && error.code === code && text.test(error.message),
    );
  });

test('an aggregation: a pipeline that does not come as text may be longer', () => {
  const pipeline = [{ $match: { n: 'x'.repeat(limits.queryLength) } }];
  assert.equal(parse({ pipeline }).filter.kind, 'never');
  assert.throws(() => parse({ pipeline: JSON.stringify(pipeline) }), { code: 102 });
});

test('an aggregation: hidden fields are not among the members of records; objectId comes first', () => {
  const names = parse({ pipeline: [{ $addFields: { x: 1 } }] }).output.map(([name]) => name);
  assert.deepEqual(names, ['objectId', 'createdAt', 'updatedAt', 'ACL', 'createdBy', 'updatedBy', 'n', 'tags', 'x']);
});

test('an aggregation: a $match before anything but $sort goes into the scan', () => {
  const { filter, stages } = parse({
    where: '{"n":1}',
    pipeline: [{ $match: { n: { $gt: 0 } } }, { $sort: { n: 1 } }, { $match: { tags: 'x' } }],
  });
  assert.equal(filter.kind === 'and' && filter.items.length, 3);
  assert.deepEqual(
    stages.map((stage) => stage.kind),
    ['sort'],
  );
});

test('an aggregation: sort and project of the short form are JSON or lists of names', () => {
  const { stages, output } = parse({ sort: '-n, tags', project: 'n,tags' });
  const sort = stages.find((stage) => stage.kind === 'sort');
  assert.deepEqual(
    sort?.keys.map(({ descending }) => descending),
    [true, false],
  );
  assert.deepEqual(
    output.map(([name]) => name),
    ['objectId', 'n', 'tags'],
  );
});
