import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { authorize, master, type Principal } from '../../../access/index.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { buildQuery, buildSelection, FindParameters } from '../../../query/index.ts';
import type { Query } from '../../../query/model/selection.ts';
import { applyStep, emptySchema, type NewField, type SchemaChange, stepsOf } from '../../../schema/change.ts';
import { type Field, fieldOf, type Schema, tableOf } from '../../../schema/model.ts';
import { valueTypeOf } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { wholeText } from '../../port.ts';
import { compileInsert } from '../../sql/insert.ts';
import { byIdsPlan, includeResolver, readPlan } from '../../sql/reads/read-plan.ts';
import { compileList } from '../../sql/select.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { Connection } from '../../sqlite/connection/connection.ts';
import { runPaged } from '../../sqlite/reads/execute-read.ts';
import { applyDdl as applySqliteDdl } from '../../sqlite/schema/ddl.ts';
import { sqliteDialect } from '../../sqlite/sql/dialect.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { ddlStatements } from '../schema/ddl.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { quotedName } from '../sql/names.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';
import { joinedPlan } from './include-joins.ts';
import { PostgresReader } from './reader.ts';

const schemaName = 'rds_includes';
const dialect = postgresDialect(schemaName);
const user: Principal = { kind: 'user', userId: 'u1', roles: [] };
const all = { '*': true } as const;

const tables: Record<string, Record<string, string>> = {
  _User: { name: 'String' },
  People: {
    name: 'String',
    boss: 'Pointer:People',
    home: 'Pointer:Places',
    team: 'Array',
    friends: 'Relation:People',
    age: 'Number',
  },
  Places: { city: 'String', at: 'Object', since: 'Date', mayor: 'Pointer:People', open: 'Boolean' },
  Deals: { title: 'String', owner: 'Pointer:People', gone: 'Pointer:Gone', with: 'Array', place: 'Pointer:Places', n: 'Number' },
};
const fields = (described: Record<string, string>): NewField[] =>
  Object.entries(described).map(([name, text]) => {
    const [type, targetClass] = text.split(':') as [Field['type'], string?];
    return { name, type, ...(targetClass === undefined ? {} : { targetClass }) };
  });

const changes: SchemaChange[] = [
  ...Object.entries(tables).map(
    ([className, described]): SchemaChange => ({ kind: 'createTable', className, fields: fields(described) }),
  ),
  { kind: 'setPermissions', className: 'Deals', permissions: { find: all, get: all, count: all } },
  {
    kind: 'setPermissions',
    className: 'People',
    permissions: { find: all, get: all, protectedFields: { '*': ['home'], 'userField:createdBy': [] } },
  },
];

const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
const person = (id: string) => pointer('People', id);
const place = (id: string) => pointer('Places', id);
const records: [string, JsonObject][] = [
  [
    'People',
    {
      objectId: 'p1',
      name: 'Ann "quoted" שלום',
      boss: person('p2'),
      home: place('l1'),
      age: 0.1,
      createdBy: pointer('_User', 'u1'),
    },
  ],
  ['People', { objectId: 'p2', name: 'Bob', boss: person('p3'), home: place('l2'), team: [person('p1'), 1, person('none')] }],
  ['People', { objectId: 'p3', name: 'Cem', ACL: { u1: { read: true } }, boss: person('p3') }],
  ['People', { objectId: 'p4', name: 'Dee', ACL: { u2: { read: true } }, home: place('l1') }],
  [
    'Places',
    {
      objectId: 'l1',
      city: 'Ulm',
      at: { b: 1, a: [1, 2.5, null] },
      since: { __type: 'Date', iso: '2026-01-02T03:04:05.006Z' },
      mayor: person('p4'),
    },
  ],
  ['Places', { objectId: 'l2', city: '', open: true }],
  ...Array.from({ length: 30 }, (_, n): [string, JsonObject] => [
    'Deals',
    {
      objectId: `d${n}`,
      title: `deal ${n}`,
      n: (n * 7) % 30,
      ...(n % 5 === 0 ? {} : { owner: person(`p${n % 6}`) }),
      ...(n % 3 === 0 ? { place: place('l1') } : { gone: pointer('Gone', 'g') }),
      ...(n % 4 === 0 ? { with: [person('p1'), place('l2'), pointer('Gone', 'x'), { a: 1 }] } : {}),
      ...(n % 7 === 0 ? { ACL: { u2: { read: true } } } : {}),
    },
  ]),
];

describe('reads with includes', () => {
  const sqlite = new Connection(':memory:', 'write');
  let schema: Schema = emptySchema;
  let home: TestDatabase;
  let database: Database;
  let reader: PostgresReader;

  before(async () => {
    home = await testDatabase();
    database = await connectDatabase(home.url, { timeLimit: 5_000 });
    reader = new PostgresReader({
      database,
      dialect,
      aggregate: null as never,
      schemaName,
      schemaCache: { changes: 0, schema: emptySchema },
      reloadSchema: async () => assert.fail(),
      mapFault: (error) => error,
      ...rowContext,
    });
    const run = (text: string) => database.dedicated((session) => session.query({ text, params: [] }));
    await run(`CREATE SCHEMA ${quotedName(schemaName)}`);
    for (const step of stepsOf(changes)) {
      const next = applyStep(schema, step);
      applySqliteDdl(sqlite, step, schema, next);
      for (const { text } of ddlStatements(schemaName, step, schema, next)) await run(text);
      schema = next;
    }
    for (const [at, [className, record]] of records.entries()) {
      const table = tableOf(schema, className);
      const stored = Object.entries(record).map(([name, value]): [Field, StoredValue] => {
        const field = fieldOf(table, name);
        return [field, valueTypeOf(field).decode(value as JsonValue, field, className)];
      });
      const values: [Field, StoredValue][] = [
        ...(['createdAt', 'updatedAt'] as const).map((name): [Field, StoredValue] => [
          fieldOf(table, name),
          1_700_000_000_000 + at,
        ]),
        ...stored,
      ];
      sqlite.run(compileInsert({ kind: 'insert', table, values }, sqliteDialect));
      await database.atomically([compileInsert({ kind: 'insert', table, values }, dialect)]);
    }
  });
  after(async () => {
    await database?.close();
    await home?.drop();
  });

  function query(className: string, parameters: Record<string, string>, principal: Principal): Query {
    return buildQuery(
      new FindParameters(new Map(Object.entries(parameters))),
      authorize(principal, 'find', tableOf(schema, className)),
      {
        schema,
        principal,
      },
    );
  }

  async function embedded(requested: Query): Promise<string> {
    const job = readPlan(requested, compileList(requested, sqliteDialect, false), rowContext);
    const resolve = includeResolver(requested, (target) => byIdsPlan(target, sqliteDialect, rowContext));
    const pages: string[] = [];
    for await (const piece of runPaged(sqlite, job, resolve, () => {})) pages.push(piece);
    return `[${pages.join('')}]`;
  }

  const cases: [string, Record<string, string>][] = [
    ['Deals', {}],
    ['Deals', { include: 'owner' }],
    ['Deals', { include: 'owner.boss.boss.home.mayor,place.mayor', order: '-n' }],
    ['Deals', { include: 'owner.boss,with', limit: '7', skip: '2' }],
    ['Deals', { include: '*', order: 'title' }],
    ['Deals', { include: 'owner.team,gone' }],
    ['Deals', { include: 'with.boss,with.home,with.mayor' }],
    ['Deals', { include: 'createdBy,owner.createdBy', keys: 'owner.name,owner.createdBy,n' }],
    ['Deals', { keys: 'place.at.a,owner', where: '{"n":{"$gt":3}}', include: 'place' }],
    ['Deals', { excludeKeys: 'owner.boss,title', include: 'owner.boss.home', limit: '5000' }],
    ['Deals', { include: 'owner', where: '{"owner":{"$inQuery":{"className":"People","where":{"name":"Bob"}}}}' }],
    ['People', { include: 'home.mayor,boss.team', order: 'name' }],
    ['People', { includeAll: 'true', keys: 'name,home,boss,team' }],
  ];

  for (const [who, principal] of [
    ['a key', master],
    ['a user', user],
  ] as const)
    for (const [className, parameters] of cases)
      test(`${className} ${JSON.stringify(parameters)} for ${who} are what the embedded engine gives`, async () => {
        const requested = query(className, parameters, principal);
        const { results } = await reader.find(requested);
        const text = await wholeText(results);
        assert.equal(text, await embedded(requested));
        assert.ok(JSON.parse(text).length > 0);
      });

  test('one record comes with what it points at', async () => {
    const grant = authorize(master, 'get', tableOf(schema, 'Deals'));
    const selection = buildSelection({ include: ['owner.boss.home', 'with'] }, grant, { schema, principal: master });
    const record = JSON.parse(await wholeText((await reader.get(selection, 'd4')) ?? ''));
    assert.equal(record.owner.className, 'People');
    assert.equal(record.with[0].name, 'Ann "quoted" שלום');
    assert.deepEqual(record.with[2], pointer('Gone', 'x'));
    assert.equal(await reader.get(selection, 'nobody'), null);
  });

  test('Pointers of every level come in the rows, arrays do not', () => {
    const sizes = (className: string, include: string) => {
      const requested = query(className, { include }, master);
      const { joins = [], includes } = joinedPlan(requested, compileList(requested, dialect, false), dialect, rowContext);
      return [joins.length, joins[0]?.joins.length ?? 0, includes.length];
    };
    assert.deepEqual(sizes('Deals', 'owner.boss,place'), [2, 1, 0]);
    assert.deepEqual(sizes('Deals', 'owner.boss,with'), [1, 1, 1]);
    assert.deepEqual(sizes('Deals', 'owner.team,place'), [1, 0, 1]);
    // A class that does not exist is not looked up.
    assert.deepEqual(sizes('Deals', 'gone'), [0, 0, 0]);
    // Eleven joined records exceed the limit.
    const long = Array.from({ length: 9 }, () => 'boss').join('.');
    assert.deepEqual(sizes('People', `${long},home.mayor.home`), [1, 1, 1]);
  });
});
