import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyChange, emptySchema, type SchemaChange } from '../../../schema/change.ts';
import { type Schema, tableOf } from '../../../schema/model.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { schemaName } from '../sql/names.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';
import { applyChanges } from './apply-changes.ts';
import { catalogFrom, loadStatement, lockCatalog } from './catalog.ts';
import { fieldOfConstraint } from './ddl.ts';
import { openCatalog } from './migrations.ts';

describe('the schema on PostgreSQL', () => {
  let server: TestDatabase;
  let database: Database;
  let systems = 0;

  before(async () => {
    server = await testDatabase();
    database = await connectDatabase(server.url, { timeLimit: 10_000 });
  });

  after(async () => {
    await database.close();
    await server.drop();
  });

  /** Creates a system for a single test. */
  async function newSystem() {
    systems += 1;
    const name = schemaName(`System${systems}`);
    let { schema } = await openCatalog(database, name, true);
    return {
      name,
      schema: () => schema,
      query: async (text: string) => {
        const [result] = await database.atomically([{ text: text.replaceAll('$S', `"${name}"`), params: [] }]);
        return result?.rows ?? [];
      },
      async change(...changes: SchemaChange[]): Promise<Schema> {
        schema = await database.transact(async (session) => {
          await session.query(lockCatalog(name));
          return applyChanges(session, name, changes, schema);
        });
        return schema;
      },
      load: async () => catalogFrom(await database.short(loadStatement(name))),
    };
  }

  const create = (className: string, fields: Record<string, string> = {}): SchemaChange => ({
    kind: 'createTable',
    className,
    fields: Object.entries(fields).map(([name, described]) => {
      const [type, targetClass] = described.split(':') as ['Pointer', string?];
      return { name, type, ...(targetClass === undefined ? {} : { targetClass }) };
    }),
  });

  const row = (id: string) => `INSERT INTO $S."t_Notes" ("objectId", "createdAt", "updatedAt") VALUES ('${id}', 1, 1)`;

  it('reads back what it stored, in the order in which it came', async () => {
    const system = await newSystem();
    const began = (await system.load()).changes;
    await system.change(
      create('Zoo', { name: 'String', home: 'Pointer:Zoo', friends: 'Relation:Zoo', tags: 'Array' }),
      { kind: 'setIndex', className: 'Zoo', index: { name: 'byName', keys: [['name', -1]] } },
      { kind: 'setUniqueIndex', className: 'Zoo', index: { name: 'one', fields: ['name', 'home'] } },
      { kind: 'setUniqueIndex', className: 'Zoo', index: { name: 'two', fields: ['name'], as: 'nocase' } },
      { kind: 'setFieldOptions', className: 'Zoo', name: 'name', options: { required: true, defaultValue: 'x' } },
      { kind: 'setPermissions', className: 'Zoo', permissions: { find: { '*': true }, get: {} } },
      { kind: 'setTimeline', className: 'Zoo', timeline: { displayFields: { b: 1, a: 2 }, index: {} } },
      create('Apes'),
      { kind: 'setTemplateVersion', version: 7 },
    );
    await system.change({ kind: 'dropField', className: 'Zoo', name: 'home' });
    await system.change({ kind: 'setFieldOptions', className: 'Zoo', name: 'name', options: { defaultValue: { a: null } } });
    await system.change({ kind: 'setFieldOptions', className: 'Zoo', name: 'tags', options: { defaultValue: [] } });
    await system.change({ kind: 'setFieldOptions', className: 'Zoo', name: 'tags', options: {} });
    await system.change({ kind: 'addField', className: 'Zoo', name: 'Name', type: 'String' }, create('Bees'));
    const { schema, changes } = await system.load();
    assert.deepEqual([...schema.tables], [...system.schema().tables]);
    assert.deepEqual([...schema.tables.keys()], ['Zoo', 'Apes', 'Bees']);
    assert.deepEqual([changes - began, schema.templateVersion], [6, 7]);
    assert.equal(tableOf(schema, 'Zoo').fields.get('Name')?.column, 'Name~2');
  });

  it('creates again, in one write, what it drops', async () => {
    const system = await newSystem();
    await system.change(create('Notes', { a: 'String', friends: 'Relation:Notes' }));
    await system.change({ kind: 'dropTable', className: 'Notes' }, create('Notes', { b: 'Number' }), {
      kind: 'addField',
      className: 'Notes',
      name: 'friends',
      type: 'Relation',
      targetClass: 'Notes',
    });
    await system.change(
      { kind: 'dropField', className: 'Notes', name: 'b' },
      { kind: 'addField', className: 'Notes', name: 'b', type: 'Boolean' },
    );
    const { schema } = await system.load();
    assert.deepEqual([...schema.tables], [...system.schema().tables]);
    assert.equal(tableOf(schema, 'Notes').fields.get('b')?.type, 'Boolean');
  });

  it('drops no table that has records', async () => {
    const system = await newSystem();
    await system.change(create('Notes'));
    await system.query(row('a'));
    await assert.rejects(system.change({ kind: 'dropTable', className: 'Notes' }), {
      message: 'Class Notes is not empty, contains 1 objects, cannot drop schema.',
    });
    assert.ok((await system.load()).schema.tables.has('Notes'));
  });

  it('fills the columns of a text index from the records that are there', async () => {
    const system = await newSystem();
    await system.change(create('Notes', { title: 'String', text: 'String' }));
    await system.query(
      `INSERT INTO $S."t_Notes" ("objectId", "createdAt", "updatedAt", title, text)
       SELECT n::text, 1, 1, CASE WHEN n % 2 = 0 THEN 'Crème ' || n END, 'Brûlée' FROM generate_series(1, 1201) AS n`,
    );
    await system.change({ kind: 'setTextIndex', className: 'Notes', fields: ['title'] });
    await system.change({ kind: 'setTextIndex', className: 'Notes', fields: ['title', 'text'] });
    const found = `SELECT count(*) FROM $S."t_Notes" WHERE "v~title" @@ 'creme'::tsquery AND "v~text" @@ 'brulee'::tsquery`;
    assert.deepEqual(await system.query(found), [[600]]);
    await system.change({ kind: 'dropField', className: 'Notes', name: 'title' });
    await assert.rejects(system.query(found), /v~title/);
  });

  it('says which field a violated index is of', async () => {
    const system = await newSystem();
    const long = 'L'.repeat(120);
    const schema = await system.change(create('_User', { _username_key: 'String', _email_key: 'String' }), create(long));
    const violated = async (insert: string): Promise<string> => {
      await system.query(insert);
      try {
        await system.query(insert);
      } catch (error) {
        const { cause, ...failed } = error as { cause?: { constraint: string }; constraint?: string };
        return cause?.constraint ?? failed.constraint ?? '';
      }
      return '';
    };
    const user = (id: string, key: string) =>
      `INSERT INTO $S."t__User" ("objectId", "createdAt", "updatedAt", _username_key) VALUES (${id}, 1, 1, ${key})`;
    const users = tableOf(schema, '_User');
    const byName = await violated(user('gen_random_uuid()::text', `'x'`));
    assert.equal(fieldOfConstraint(users, byName)?.name, '_username_key');
    assert.equal(fieldOfConstraint(users, await violated(user(`'y'`, 'NULL')))?.name, 'objectId');
    const [[cut]] = (await system.query(`SELECT conname FROM pg_constraint WHERE contype = 'p' AND conname LIKE 'u~t_LLL%'`)) as [
      [string],
    ];
    assert.equal(fieldOfConstraint(tableOf(schema, long), cut)?.name, 'objectId');
  });

  it('serves lists in order from its indexes', async () => {
    const system = await newSystem();
    await system.change(create('Notes', { n: 'Number', tags: 'Array' }), {
      kind: 'setIndex',
      className: 'Notes',
      index: { name: 'byN', keys: [['n', 1]] },
    });
    await system.query(
      `INSERT INTO $S."t_Notes" ("objectId", "createdAt", "updatedAt", n, tags)
       SELECT n::text, n, 1, nullif(n % 1000, 0), ('["tag' || n || '"]')::json FROM generate_series(1, 20000) AS n; ANALYZE $S."t_Notes"`,
    );
    for (const [order, index] of [
      ['n NULLS FIRST, "objectId"', 'i~t_Notes~byN'],
      ['n DESC NULLS LAST', 'i~t_Notes~byN'],
      ['"createdAt" DESC, "objectId"', 'f~t_Notes~createdAt'],
      ['"objectId"', 'u~t_Notes'],
      ['_seq', 'q~t_Notes'],
    ] as const) {
      const plan = String(await system.query(`EXPLAIN SELECT * FROM $S."t_Notes" ORDER BY ${order} LIMIT 10`));
      assert.ok(plan.includes(index), plan);
    }
    const contains = `EXPLAIN SELECT * FROM $S."t_Notes" WHERE tags::jsonb @> '["tag77"]'`;
    assert.match(String(await system.query(contains)), /f~t_Notes~tags/);
  });

  it('keeps names of the database for columns of its own', () => {
    const schema = applyChange(emptySchema, create('T', { xmin: 'String', ctid: 'Number' }));
    assert.equal(tableOf(schema, 'T').fields.get('ctid')?.column, 'ctid~2');
  });
});
