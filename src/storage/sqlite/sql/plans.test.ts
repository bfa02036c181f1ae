import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, Regex } from '../../../query/filter.ts';
import { TestTables } from '../testing/tables.ts';

const tables = new TestTables();
tables.define('Team', { members: 'Relation:T' });
tables.define('T', { text: 'String', num: 'Number', day: 'Date', team: 'Pointer:Team' });
for (const name of ['text', 'num', 'day'])
  tables.change({ kind: 'setIndex', className: 'T', index: { name, keys: [[name, 1]] } });

const field = (name: string) => tables.field('T', name);
const prefix: Regex = { kind: 'pattern', pattern: '^ab', options: '', literal: { text: 'ab', at: 'start' } };
const whole: Regex = { kind: 'pattern', pattern: '^ab$', options: '', literal: { text: 'ab', at: 'whole' } };
const everyTeam = { table: tables.table('Team'), filter: { kind: 'always' } } as const;

const cases: [name: string, filter: Filter, plan: RegExp][] = [
  [
    'eq',
    { kind: 'compare', field: field('text'), op: 'eq', value: 'x' },
    /SEARCH t USING (?:COVERING )?INDEX i~t_T~text \(text=\?\)/,
  ],
  ['a range', { kind: 'compare', field: field('num'), op: 'gt', value: 1 }, /SEARCH t USING .*INDEX i~t_T~num \(num>\?\)/],
  ['a date', { kind: 'compare', field: field('day'), op: 'lte', value: 1 }, /SEARCH t USING .*INDEX i~t_T~day \(day<\?\)/],
  ['in', { kind: 'in', field: field('text'), values: ['x', 'y'] }, /SEARCH t USING .*INDEX i~t_T~text \(text=\?\)/],
  ['in on numbers', { kind: 'in', field: field('num'), values: [1, 2] }, /SEARCH t USING .*INDEX i~t_T~num \(num=\?\)/],
  [
    'a prefix',
    { kind: 'regex', ref: tables.ref('T', 'text'), regex: prefix },
    /SEARCH t USING .*INDEX i~t_T~text \(text>\? AND text<\?\)/,
  ],
  [
    'a whole text',
    { kind: 'regex', ref: tables.ref('T', 'text'), regex: whole },
    /SEARCH t USING .*INDEX i~t_T~text \(text=\?\)/,
  ],
  [
    'a Pointer',
    { kind: 'compare', field: field('team'), op: 'eq', value: 'x' },
    /SEARCH t USING (?:COVERING )?INDEX f~t_T~team \(team=\?\)/,
  ],
  [
    'createdBy',
    { kind: 'compare', field: field('createdBy'), op: 'eq', value: 'x' },
    /SEARCH t USING (?:COVERING )?INDEX f~t_T~createdBy/,
  ],
  [
    'createdBy in',
    { kind: 'in', field: field('createdBy'), values: ['x', 'y'] },
    /SEARCH t USING (?:COVERING )?INDEX f~t_T~createdBy/,
  ],
  [
    'inQuery',
    { kind: 'inQuery', ref: tables.ref('T', 'team'), target: everyTeam },
    /SEARCH t USING (?:COVERING )?INDEX f~t_T~team/,
  ],
  [
    'relatedTo',
    { kind: 'relatedTo', relation: tables.field('Team', 'members'), ownerId: 'x', owner: everyTeam },
    /SEARCH t USING (?:COVERING )?INDEX u~t_T \(objectId=\?\).*SEARCH j_Team~members USING PRIMARY KEY \(owner=\?\)/,
  ],
];

for (const [name, filter, plan] of cases)
  test(`an index answers ${name}`, () => {
    assert.match(tables.plan('T', filter), plan);
    const first: Filter = { kind: 'and', items: [filter, { kind: 'exists', ref: tables.ref('T', 'day') }] };
    assert.match(tables.plan('T', first), /SEARCH t USING/);
  });
