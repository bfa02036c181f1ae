import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../kernel/json.ts';
import { applyChanges, emptySchema, type SchemaChange } from '../schema/change.ts';
import { planRenames } from '../schema/definition-renames.ts';
import { tableOf } from '../schema/model.ts';
import { PresentNames } from './present-names.ts';

const make = (
  className: string,
  ...fields: { name: string; type: 'String' | 'Pointer' | 'Relation' | 'Object'; targetClass?: string }[]
): SchemaChange => ({
  kind: 'createTable',
  className,
  fields,
});
const tables = applyChanges(emptySchema, [
  make(
    'T',
    { name: 'old', type: 'String' },
    { name: 'o', type: 'Object' },
    { name: 'up', type: 'Pointer', targetClass: 'U' },
    { name: 'many', type: 'Relation', targetClass: 'U' },
  ),
  make('U', { name: 'gone', type: 'String' }, { name: 'back', type: 'Pointer', targetClass: 'T' }),
]);
const rename = (schema: typeof tables, className: string, renames: Record<string, string>) =>
  applyChanges(schema, planRenames(tableOf(schema, className), new Map(Object.entries(renames))));
const schema = rename(rename(rename(tables, 'T', { old: 'new', up: 'above', many: 'several' }), 'U', { gone: 'here' }), 'U', {
  here: 'now',
});
const names = new PresentNames(schema);

describe('present names', () => {
  test('of paths, through Pointers and into Objects', () => {
    for (const [name, expected] of [
      ['old', 'new'],
      ['new', 'new'],
      ['other', 'other'],
      ['o.old', 'o.old'],
      ['old.old', 'new.old'],
      ['up.gone', 'above.now'],
      ['above.here', 'above.now'],
      ['up.back.old', 'above.back.new'],
      ['up.back.up.gone.gone', 'above.back.above.now.gone'],
    ] as const)
      assert.equal(names.dotted('T', name), expected, name);
    assert.equal(names.dotted('Nothing', 'old'), 'old');
    assert.equal(names.order('T', ' -old ,up.gone,, o'), ' -new ,above.now,, o');
    assert.equal(names.targetOf('T', 'up'), 'U');
    assert.equal(names.targetOf('T', 'old'), null);
  });

  test('of a where, with its sub-queries', () => {
    const cases: [JsonObject, JsonObject][] = [
      [
        { old: { $in: ['old'] }, 'up.gone': 1 },
        { new: { $in: ['old'] }, 'above.now': 1 },
      ],
      [
        { $and: [{ old: 1 }, 5], $nor: [{ $or: [{ old: null }] }] } as never,
        { $and: [{ new: 1 }, 5], $nor: [{ $or: [{ new: null }] }] } as never,
      ],
      [{ $not: { old: { $not: { $gt: 'old' } } } }, { $not: { new: { $not: { $gt: 'old' } } } }],
      [
        {
          up: { $inQuery: { className: 'U', where: { gone: 1, back: { $notInQuery: { className: 'T', where: { old: 1 } } } } } },
        },
        {
          above: {
            $inQuery: { className: 'U', where: { now: 1, back: { $notInQuery: { className: 'T', where: { new: 1 } } } } },
          },
        },
      ],
      [
        { old: { $not: { $select: { query: { className: 'U', where: { gone: 1 } }, key: 'gone' } } } },
        { new: { $not: { $select: { query: { className: 'U', where: { now: 1 } }, key: 'now' } } } },
      ],
      [
        { up: { $inQuery: { className: 'T', redirectClassNameForKey: 'many', where: { gone: 1 } } } },
        { above: { $inQuery: { className: 'T', redirectClassNameForKey: 'several', where: { now: 1 } } } },
      ],
      [
        { $relatedTo: { object: { __type: 'Pointer', className: 'T', objectId: 'x' }, key: 'many' } },
        { $relatedTo: { object: { __type: 'Pointer', className: 'T', objectId: 'x' }, key: 'several' } },
      ],
      [
        { $text: { $search: { $term: 'old' } }, $old: 1 },
        { $text: { $search: { $term: 'old' } }, $old: 1 },
      ],
      // Both conditions stay if two names become one.
      [{ old: 1, new: 2 }, { $and: [{ new: 1 }, { new: 2 }] }],
      // What has not the form of a where stays.
      [
        { $or: 5, $relatedTo: 'x', up: { $inQuery: 5, $select: { key: 'gone' } } } as never,
        { $or: 5, $relatedTo: 'x', above: { $inQuery: 5, $select: { key: 'gone' } } } as never,
      ],
    ];
    for (const [where, expected] of cases) {
      assert.deepEqual(names.where('T', where), expected);
      assert.deepEqual(names.where('T', expected), expected);
    }
    assert.equal(names.where('T', 'text'), 'text');
  });
});
