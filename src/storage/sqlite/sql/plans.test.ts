import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Filter, OrderKey, Regex } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { compileUnmark } from '../../sql/mutation.ts';
import { compileList } from '../../sql/select.ts';
import { shortList } from '../reads/read-routing.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteDialect } from './dialect.ts';

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

tables.define('Accounts', { Email: 'String', PhoneNumber: 'String', _phone_key: 'String' });
tables.change({ kind: 'setIndex', className: 'Accounts', index: { name: 'byEmail', keys: [['Email', 1]] } });
// Too many records to scan.
tables.connection.execute(
  'WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 2000) ' +
    `INSERT INTO "t_Accounts" ("objectId", "createdAt", "updatedAt", Email, _phone_key) SELECT 'a' || n, n, n, 'e' || n, 'p' || n FROM n`,
);
const byId: OrderKey = { kind: 'field', ref: tables.ref('Accounts', 'objectId'), descending: false };

for (const [field, order, plan] of [
  ['_phone_key', [], 'SEARCH t USING INDEX f~t_Accounts~_phone_key (_phone_key=?)'],
  ['Email', [byId], 'SEARCH t USING INDEX i~t_Accounts~byEmail (Email=?)'],
] as const)
  test(`one step into an index finds the first of the accounts with a ${field}`, () => {
    const table = tables.table('Accounts');
    const query: Query = {
      table,
      fields: [tables.field('Accounts', 'objectId')],
      filter: { kind: 'compare', field: tables.field('Accounts', field), op: 'eq', value: 'x' },
      includes: [],
      order,
      skip: 0,
      limit: 1,
      count: false,
      withScore: false,
    };
    const list = compileList(query, sqliteDialect, false);
    assert.equal(tables.planOf(list).replace('COVERING ', ''), plan);
    assert.ok(shortList(tables.connection, query));
    const other: Query = {
      ...query,
      filter: { kind: 'compare', field: tables.field('Accounts', 'PhoneNumber'), op: 'eq', value: 'x' },
    };
    assert.ok(!shortList(tables.connection, other));
  });

test('the index of a field that records are looked up by goes with the field, and comes with it', () => {
  const plan = () =>
    tables.plan('Accounts', { kind: 'compare', field: tables.field('Accounts', '_phone_key'), op: 'eq', value: 'x' });
  tables.change({ kind: 'dropField', className: 'Accounts', name: '_phone_key' });
  tables.change({ kind: 'addField', className: 'Accounts', name: '_phone_key', type: 'String' });
  assert.match(plan(), /INDEX f~t_Accounts~_phone_key/);
});

tables.define('_Timeline', { objectIdValue: 'String', objectClass: 'String', Last: 'Boolean', AccountId: 'Pointer:Accounts' });
const newestFirst = [
  ['objectIdValue', 1],
  ['createdAt', -1],
] as const;
tables.change({ kind: 'setIndex', className: '_Timeline', index: { name: 'byRecord', keys: newestFirst } });

test('the mark of a newest row is found by an index that ends in the time, whatever the number of rows', () => {
  const unmark = compileUnmark(
    {
      kind: 'unmark',
      table: tables.table('_Timeline'),
      holding: [
        [tables.field('_Timeline', 'objectIdValue'), 'x'],
        [tables.field('_Timeline', 'objectClass'), 'T'],
      ],
      mark: tables.field('_Timeline', 'Last'),
    },
    sqliteDialect,
  );
  assert.match(
    tables.planOf(unmark),
    /^SEARCH t__Timeline USING INTEGER PRIMARY KEY .*SEARCH m USING INDEX i~t__Timeline~byRecord \(objectIdValue=\?\); USE TEMP B-TREE FOR LAST TERM OF ORDER BY$/,
  );
});

test('rows of history that point at a record are found by an index, which holds no others', () => {
  const filter: Filter = { kind: 'compare', field: tables.field('_Timeline', 'AccountId'), op: 'eq', value: 'x' };
  assert.match(tables.plan('_Timeline', filter), /^SEARCH t USING INDEX f~t__Timeline~AccountId \(AccountId=\?\)$/);
});
