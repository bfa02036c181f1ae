import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter } from '../../../query/model/filter.ts';
import { addFilterRecords, always, filtersOf, literal, many, n, not, re, s } from './filter-data.ts';
import { type FilterCase, valueCases } from './filter-values.ts';
import type { EngineTables } from './tables.ts';

/** Filters beyond single values: patterns, guards, other tables. */
function otherCases(tables: EngineTables): FilterCase[] {
  const { ref, field, regex, place, guard, acl, team, teamGuard } = filtersOf(tables);
  const numbered = { table: tables.table('T'), filter: { kind: 'exists', ref: ref('num') } } as const;
  const withNumbers: Filter = { kind: 'inQuery', ref: tables.ref('Team', 'members'), target: numbered };
  return [
    ['regex', regex('text', re('^ab[cd]')), 'a b'],
    ['regex with options', regex('text', re('^abc$', 'i')), 'a c'],
    ['a pattern with a slash', regex('text', re('a/b|bd')), 'b'],
    ['not regex', not(regex('text', re('^ab'))), 'c d'],
    ['literal at the start', regex('text', literal('ab', 'start')), 'a b'],
    ['literal at the end', regex('text', literal('d%', 'end')), 'b'],
    ['literal longer than the text', regex('text', literal('xxabc', 'end')), ''],
    ['literal anywhere', regex('text', literal('bd', 'anywhere')), 'b'],
    ['literal as a whole', regex('text', literal('ABC', 'whole')), 'c'],
    ['empty literals match every text', regex('text', literal('', 'start')), 'a b c'],
    ['regex at a place', regex('obj.s', re('b.$')), 'a'],
    ['regex on elements', regex('obj.list', literal('p', 'whole')), 'a'],
    ['regex on an Array', regex('arr', re('^x$')), 'a'],
    ['regex on an Object looks at none of its members', regex('obj', re('.')), ''],

    ['acl, anyone', acl('read', '*'), 'a c d'],
    ['acl, a user', acl('read', '*', 'u2'), 'a b c d'],
    ['acl, another right', acl('write', '*', 'u2'), 'a c d'],
    ['acl, an id that no path can name', acl('read', '*', 'u2', 'a"b\\c'), 'a b c d'],
    ['acl, such an id alone', acl('read', 'a"b\\c'), 'a c d'],
    [
      'acl, more identities than a function takes',
      acl('read', ...Array.from({ length: 200 }, (_, n) => `role:${n}`), 'u2'),
      'a b c d',
    ],
    ['acl, many', acl('read', ...Array.from({ length: 90 }, (_, n) => `role:${n}`), 'u2'), 'a b c d'],
    ['acl, identities that are paths', acl('read', 'u2".read', '$', 'u*', '."u2', 'u2.read'), 'a c d'],
    ['acl, a role', acl('write', '*', 'u9', 'role:R'), 'a b c d'],
    ['user fields', guard({ kind: 'userFields', fields: ['owner', 'users', 'team', 'missing'], userId: 'u1' }), 'a b'],
    ['one record', guard({ kind: 'record', objectId: 'b' }), 'b'],
    ['all others', guard({ kind: 'not', guard: { kind: 'userFields', fields: ['owner', 'users'], userId: 'u1' } }), 'c d'],
    [
      'others than absent ones too',
      guard({ kind: 'not', guard: { kind: 'userFields', fields: ['owner'], userId: 'u1' } }),
      'a c d',
    ],
    ['no user fields', guard({ kind: 'userFields', fields: [], userId: 'u1' }), ''],
    [
      'both guards',
      guard({
        kind: 'all',
        guards: [
          { kind: 'acl', right: 'read', identities: ['*'] },
          { kind: 'userFields', fields: ['owner', 'users'], userId: 'u1' },
        ],
      }),
      'a',
    ],

    ['inQuery', { kind: 'inQuery', ref: ref('team'), target: team(always) }, 'a b'],
    ['not inQuery', not({ kind: 'inQuery', ref: ref('team'), target: team(always) }), 'c d'],
    ['inQuery sees what the caller may see', { kind: 'inQuery', ref: ref('team'), target: team(teamGuard) }, 'a'],
    ['inQuery with a limit', { kind: 'inQuery', ref: ref('team'), target: team(always, { limit: 1 }) }, 'a'],
    ['inQuery with a skip', { kind: 'inQuery', ref: ref('team'), target: team(always, { skip: 1 }) }, 'b'],
    ['inQuery through an Array', { kind: 'inQuery', ref: ref('arr'), target: team(always) }, 'a'],
    ['inQuery at a place', { kind: 'inQuery', ref: ref('obj.to'), target: team(always) }, 'b'],
    ['inQuery at a place that holds text', { kind: 'inQuery', ref: ref('obj.s'), target: team(always) }, ''],
    ['inQuery at a position', { kind: 'inQuery', ref: ref('arr.3'), target: team(always) }, 'a'],
    ['select through an Array', { kind: 'select', ref: ref('arr'), target: team(always), key: tables.ref('Team', 'size') }, ''],
    [
      'select, columns of a kind',
      { kind: 'select', ref: ref('text'), target: team(always), key: tables.ref('Team', 'name') },
      'a',
    ],
    [
      'select, columns of two kinds',
      { kind: 'select', ref: ref('num'), target: team(always), key: tables.ref('Team', 'name') },
      '',
    ],
    [
      'select at a place: numbers',
      { kind: 'select', ref: ref('obj.s'), target: team(always), key: tables.ref('Team', 'size') },
      'b',
    ],
    [
      'select at a place: texts',
      { kind: 'select', ref: ref('obj.s'), target: team(always), key: tables.ref('Team', 'name') },
      'a',
    ],
    ['not inQuery at a place', not({ kind: 'inQuery', ref: ref('obj.to'), target: team(always) }), 'a c d'],
    ['not select', not({ kind: 'select', ref: ref('text'), target: team(always), key: tables.ref('Team', 'name') }), 'b c d'],
    [
      'not relatedTo',
      not({ kind: 'relatedTo', relation: tables.field('Team', 'members'), ownerId: 'red', owner: team(always) }),
      'c d',
    ],
    ['a Relation with such a record', { kind: 'inQuery', ref: ref('team'), target: team(withNumbers) }, 'a'],
    [
      'either of two queries',
      {
        kind: 'or',
        items: [
          { kind: 'inQuery', ref: ref('team'), target: team(not(withNumbers)) },
          { kind: 'inQuery', ref: ref('team'), target: team(always, { limit: 1 }) },
        ],
      },
      'a b',
    ],
    [
      'relatedTo',
      { kind: 'relatedTo', relation: tables.field('Team', 'members'), ownerId: 'red', owner: team(teamGuard) },
      'a b',
    ],
    [
      'relatedTo of an owner the caller may not see',
      { kind: 'relatedTo', relation: tables.field('Team', 'members'), ownerId: 'blue', owner: team(teamGuard) },
      '',
    ],

    ['or', { kind: 'or', items: [regex('text', literal('AB', 'start')), place('obj.n', 'eq', n(1))] }, 'a c'],
    [
      'not and',
      not({
        kind: 'and',
        items: [
          { kind: 'exists', ref: ref('num') },
          { kind: 'exists', ref: ref('day') },
        ],
      }),
      'b c d',
    ],
    [
      'more terms than an expression may be deep',
      { kind: 'or', items: many.map((i) => ({ kind: 'compare', field: field('num'), op: 'eq', value: i })) },
      'a',
    ],
  ];
}

/** Filters over the owners of a Relation. */
function ownerCases(tables: EngineTables): FilterCase[] {
  const relation = tables.field('Team', 'members');
  return [
    ['hasMember finds owners', { kind: 'hasMember', relation, memberIds: ['b', 'x'] }, 'red'],
    ['not hasMember', not({ kind: 'hasMember', relation, memberIds: ['b'] }), 'blue'],
  ];
}

/** Returns what filters find among the records of `addFilterRecords`, by table. */
export function filterCases(tables: EngineTables): Readonly<Record<'T' | 'Team', readonly FilterCase[]>> {
  return { T: [...valueCases(tables), ...otherCases(tables)], Team: ownerCases(tables) };
}

/** Defines the tests of filters that both engines pass. */
export async function testFilters(tables: EngineTables): Promise<void> {
  await addFilterRecords(tables);
  const { field, place, has, acl } = filtersOf(tables);

  for (const [className, cases] of Object.entries(filterCases(tables)))
    for (const [name, filter, found] of cases)
      test(`filter: ${name}`, async () => {
        assert.equal(await tables.ids(className, filter), found);
        assert.equal(await tables.ids(className, filter, [], true), found, 'interruptible');
      });

  test('filter: the text of a statement depends on the shape alone', () => {
    const text = (filter: Filter) => tables.compile('T', filter).text;
    const lists = [['a', 'b'], many.map(String)].map((values) => text({ kind: 'in', field: field('text'), values }));
    assert.equal(lists[0], lists[1]);
    const anyOf = (count: number) => text(has('hasAny', 'arr', ...many.slice(0, count).map(n)));
    // Short lists may be compiled in another way than long ones.
    assert.deepEqual([anyOf(2), anyOf(50)], [anyOf(16), anyOf(1500)]);
    assert.equal(text(place('obj.a', 'eq', s('x'))), text(place('obj."b', 'eq', s("y'"))));
    assert.equal(text(acl('read', '*')), text(acl('read', '*', 'u', 'role:x')));
  });
}
