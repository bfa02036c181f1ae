import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { authorize, master } from '../../../access/index.ts';
import { buildQuery, buildSelection, FindParameters } from '../../../query/index.ts';
import type { Query } from '../../../query/model/selection.ts';
import { applyStep, emptySchema, type SchemaChange, stepsOf } from '../../../schema/change.ts';
import { type Schema, tableOf } from '../../../schema/model.ts';
import { SchemaChanged, wholeText } from '../../port.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { ddlStatements } from '../schema/ddl.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { quotedName } from '../sql/names.ts';
import { query as onItsOwn, type TestDatabase, testDatabase } from '../testing/server.ts';
import { mapQueryError } from './map-error.ts';
import { PostgresReader } from './reader.ts';

const schemaName = 'rds_reader';
const dialect = postgresDialect(schemaName);
const RECORDS = 20_000;
const changes: SchemaChange[] = [
  {
    kind: 'createTable',
    className: 'Many',
    fields: [
      { name: 'n', type: 'Number' },
      { name: 'text', type: 'String' },
      { name: 'list', type: 'Array' },
    ],
  },
  { kind: 'createTable', className: 'Doomed', fields: [{ name: 'a', type: 'Number' }] },
];

describe('PostgreSQL reader', () => {
  let schema: Schema = emptySchema;
  let home: TestDatabase;
  let database: Database;
  let reader: PostgresReader;
  let reloads = 0;
  let version = 0;
  let changesWithReload = 1;
  const run = (text: string) => database.dedicated((session) => session.query({ text, params: [] }));
  const readerOf = (through: Database) =>
    new PostgresReader({
      database: through,
      dialect,
      aggregate: null as never,
      schemaName,
      schemaCache: {
        get changes() {
          return version;
        },
        schema: emptySchema,
      },
      ...rowContext,
      reloadSchema: async () => {
        reloads += 1;
        version += changesWithReload;
      },
      mapFault: (error) => error,
    });

  before(async () => {
    home = await testDatabase();
    database = await connectDatabase(home.url, { timeLimit: 10_000 });
    reader = readerOf(database);
    await run(`CREATE SCHEMA ${quotedName(schemaName)}`);
    for (const step of stepsOf(changes)) {
      const next = applyStep(schema, step);
      for (const { text } of ddlStatements(schemaName, step, schema, next)) await run(text);
      schema = next;
    }
    await run(`INSERT INTO ${dialect.table('t_Many')} ("objectId", "createdAt", "updatedAt", n, text, list)
      SELECT 'o' || i, i, i, i, repeat('x', 50), '[1, "two"]' FROM generate_series(1, ${RECORDS}) AS i`);
  });
  after(async () => {
    await database?.close();
    await home?.drop();
  });

  function query(className: string, parameters: Record<string, string>): Query {
    const grant = authorize(master, 'find', tableOf(schema, className));
    return buildQuery(new FindParameters(new Map(Object.entries(parameters))), grant, { schema, principal: master });
  }

  async function find(parameters: Record<string, string>) {
    const { results, count } = await reader.find(query('Many', parameters));
    const ids = JSON.parse(await wholeText(results)).map(({ objectId }: { objectId: string }) => objectId);
    return { ids, count, streamed: typeof results !== 'string' };
  }

  test('lists, counts, and both', async () => {
    assert.deepEqual(await find({ limit: '2', skip: '1' }), { ids: ['o2', 'o3'], count: undefined, streamed: false });
    assert.deepEqual(await find({ limit: '0', count: '1' }), { ids: [], count: RECORDS, streamed: false });
    assert.deepEqual(await find({ limit: '1', count: '1', order: '-n' }), {
      ids: [`o${RECORDS}`],
      count: RECORDS,
      streamed: false,
    });
    assert.deepEqual(await find({ where: '{"objectId":"o7"}', count: '1' }), { ids: ['o7'], count: 1, streamed: false });
    assert.deepEqual(await find({ where: '{"n":{"$gt":3}}', skip: '99999', count: '1' }), {
      ids: [],
      count: RECORDS - 3,
      streamed: false,
    });
  });

  test('a query without a limit is for all records', async () => {
    const { results } = await reader.find({ ...query('Many', {}), limit: Number.POSITIVE_INFINITY });
    assert.equal(JSON.parse(await wholeText(results)).length, RECORDS);
  });

  test('one record by its id, or none', async () => {
    const grant = authorize(master, 'get', tableOf(schema, 'Many'));
    const selection = buildSelection({}, grant, { schema, principal: master });
    assert.match(
      await wholeText((await reader.get(selection, 'o5')) ?? ''),
      /^\{"objectId":"o5",.*"n":5,"text":"x{50}","list":\[1, "two"\]\}$/,
    );
    assert.equal(await reader.get(selection, 'o0'), null);
  });

  test('a read of one record that looks into its Arrays many times does not take a connection that others share', async () => {
    const shared: string[] = [];
    const watched: Database = Object.create(database, {
      short: {
        value: (...args: Parameters<Database['short']>) => {
          shared.push(args[0].text);
          return database.short(...args);
        },
      },
      long: { value: database.long.bind(database) },
    });
    const read = async (where: unknown) => {
      const { results } = await readerOf(watched).find(query('Many', { where: JSON.stringify(where) }));
      return JSON.parse(await wholeText(results)).map(({ objectId }: { objectId: string }) => objectId);
    };
    const $or = Array.from({ length: 300 }, (_, at) => ({ list: { $gt: at } }));
    assert.deepEqual(await read({ objectId: 'o5', $or }), ['o5']);
    assert.deepEqual(shared, []);
    assert.deepEqual(await read({ objectId: 'o5' }), ['o5']);
    assert.equal(shared.length, 1);
  });

  test('long answers stream, in order, with every record once', async () => {
    const { ids, count, streamed } = await find({ limit: '50000', order: '-n', count: '1' });
    assert.equal(streamed, true);
    assert.equal(count, RECORDS);
    assert.deepEqual(
      ids,
      Array.from({ length: RECORDS }, (_, n) => `o${RECORDS - n}`),
    );
    assert.equal((await find({ limit: '50000', where: '{"n":{"$lt":4}}' })).streamed, false);
  });

  test('answers that nobody reads on give their connections back', async () => {
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all([1, 2, 3].map(() => reader.find(query('Many', { limit: '50000' }))));
      for (const [at, { results }] of answers.entries()) {
        const pieces = (results as AsyncIterable<string>)[Symbol.asyncIterator]();
        if (at > 0) await pieces.next();
        await pieces.return?.();
      }
    }
    assert.equal((await find({ limit: '3' })).ids.length, 3);
  });

  test('a statement for another schema is planned again, but not for ever', async () => {
    const doomed = query('Doomed', { order: 'a' });
    await reader.find(doomed);
    await run(`ALTER TABLE ${dialect.table('t_Doomed')} DROP COLUMN a`);
    await assert.rejects(reader.find(doomed), SchemaChanged);
    assert.equal(reloads, 1);
    changesWithReload = 0;
    await assert.rejects(reader.find(doomed), { code: '42703' });
    changesWithReload = 1;
    await run(`DROP TABLE ${dialect.table('t_Doomed')}`);
    await assert.rejects(reader.find(query('Doomed', { limit: '0', count: '1' })), SchemaChanged);
  });

  test('a read that has to wait ends at the time limit', async () => {
    const hasty = await connectDatabase(home.url, { timeLimit: 300 });
    const blocked = onItsOwn(home.url, `BEGIN; LOCK TABLE ${dialect.table('t_Many')}; SELECT pg_sleep(1.5)`);
    await onItsOwn(home.url, 'SELECT pg_sleep(0.2)');
    const slow = readerOf(hasty);
    const parameters = [{ limit: '5' }, { limit: '5', order: 'n' }, { limit: '5000' }, { limit: '0', count: '1' }];
    await Promise.all(parameters.map((each) => assert.rejects(slow.find(query('Many', each)), { key: 'timeout' })));
    await blocked;
    assert.equal((await find({ limit: '3' })).ids.length, 3);
    await hasty.close();
  });

  test('a query that asks too much is answered with the reason', () => {
    const code = (of: string) => Object.assign(new Error('refused'), { code: of });
    for (const each of ['2201B', '54001', '54000', '22003'])
      assert.equal((mapQueryError(code(each)) as { key?: string }).key, 'badQuery');
    const fault = code('42601');
    assert.equal(mapQueryError(fault), fault);
  });

  test('more values than a statement takes are refused', async () => {
    const field = tableOf(schema, 'Many').fields.get('n');
    assert.ok(field);
    const items = Array.from({ length: 70_000 }, (_, value) => ({ kind: 'compare', field, op: 'eq', value }) as const);
    await assert.rejects(reader.find({ ...query('Many', {}), filter: { kind: 'or', items } }), { key: 'badQuery' });
  });
});
