import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';
import { migrateRegistry, migrateSchema, openCatalog, type PostgresMigration } from './migrations.ts';

describe('migrations on PostgreSQL', () => {
  let server: TestDatabase;
  let processes: Database[];

  const open = () => connectDatabase(server.url, { timeLimit: 10_000 });

  before(async () => {
    server = await testDatabase();
    processes = await Promise.all([open(), open(), open()]);
  });

  after(async () => {
    await Promise.all(processes.map((database) => database.close()));
    await server.drop();
  });

  const inAllProcesses = <T>(work: (database: Database) => Promise<T>) => Promise.all(processes.map(work));
  const query = async (text: string) => (await processes[0]?.short({ text, params: [] })) ?? [];

  /** Appends a letter to a text, which so records the order of execution. */
  const step = (number: number, letter: string): PostgresMigration => ({
    number,
    what: letter,
    statements: (schema) => [
      { text: `CREATE TABLE IF NOT EXISTS ${schema}.steps (steps text)`, params: [] },
      { text: `INSERT INTO ${schema}.steps VALUES ($1)`, params: [letter] },
    ],
  });

  it('are run once, by whichever process comes first', async () => {
    await inAllProcesses((database) => migrateSchema(database, 'once', [step(1, 'a'), step(2, 'b')], 'it'));
    await inAllProcesses((database) => migrateSchema(database, 'once', [step(1, 'a'), step(2, 'b'), step(3, 'c')], 'it'));
    assert.deepEqual(await query('SELECT steps FROM once.steps ORDER BY 1'), [['a'], ['b'], ['c']]);
    assert.deepEqual(await query('SELECT number, what FROM once.rds_migrations ORDER BY 1'), [
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
  });

  it('leave nothing of one that fails', async () => {
    const bad: PostgresMigration = { number: 2, what: 'bad', statements: () => [{ text: 'SELECT 1 / 0', params: [] }] };
    await assert.rejects(migrateSchema(processes[0] as Database, 'bad', [step(1, 'a'), bad], 'it'));
    assert.deepEqual(await query("SELECT 1 FROM information_schema.schemata WHERE schema_name = 'bad'"), []);
  });

  it('refuse what a later version has written', async () => {
    await migrateSchema(processes[0] as Database, 'later', [step(1, 'a'), step(2, 'b')], 'it');
    await assert.rejects(
      migrateSchema(processes[0] as Database, 'later', [step(1, 'a')], 'it'),
      (error) =>
        error instanceof OperatorError &&
        /^it was written by a later version .*\(migration 2, this one knows 1\)/.test(error.message),
    );
    await openCatalog(processes[0] as Database, 'rds_later', true);
    await processes[0]?.atomically([{ text: "INSERT INTO rds_later.rds_migrations VALUES (99, 'x')", params: [] }]);
    await assert.rejects(openCatalog(processes[0] as Database, 'rds_later', true), OperatorError);
  });

  it('that are additive leave the number that earlier versions compare, until one that needs them', async () => {
    const [database] = processes as [Database];
    const required = async () => (await query('SELECT max(number) FROM additive.rds_migrations'))[0]?.[0];
    const done = async () => (await query('SELECT steps FROM additive.steps ORDER BY 1')).flat().join();
    const run = (...migrations: PostgresMigration[]) => migrateSchema(database, 'additive', migrations, 'it');
    const [first, second, third] = [step(1, 'a'), { ...step(2, 'b'), compatibleFrom: 1 }, { ...step(3, 'c'), compatibleFrom: 2 }];
    await inAllProcesses((each) => migrateSchema(each, 'additive', [first, second], 'it'));
    assert.deepEqual([await done(), await required()], ['a,b', 1]);
    await run(first);
    await run(first, second);
    await run(first, second, third);
    assert.deepEqual([await done(), await required()], ['a,b,c', 2]);
    await run(first, second);
    await assert.rejects(run(first), /migration 2, this one knows 1/);
    await run(first, second, third, step(4, 'd'));
    await assert.rejects(run(first, second, third), /migration 4, this one knows 3/);
    assert.equal((await query('SELECT count(*) FROM additive.rds_migrations'))[0]?.[0], 4);
  });

  it('make a catalogue and a registry where there is none', async () => {
    const opened = await inAllProcesses((database) => openCatalog(database, 'rds_new', true));
    for (const { schema, changes } of opened) assert.deepEqual([schema.tables.size, changes], [0, opened[0]?.changes]);
    await inAllProcesses(migrateRegistry);
    assert.deepEqual(await query('SELECT number FROM rds.rds_migrations ORDER BY 1'), [[1], [2], [3], [4], [5]]);
  });
});
