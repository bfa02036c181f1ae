import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { catalogMigrations, migrate, registryMigrations, type SqliteMigration } from './migrations.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-migrations-'));
after(() => rmSync(directory, { recursive: true }));

let files = 0;

/** Returns connections to one new file. */
function open(connections = 1): DatabaseSync[] {
  const path = join(directory, `${++files}.sqlite`);
  return Array.from({ length: connections }, () => new DatabaseSync(path));
}

const reached = (db: DatabaseSync) => db.prepare('PRAGMA user_version').get()?.user_version;

const step = (number: number, letter: string): SqliteMigration => ({
  number,
  what: letter,
  apply: (db) => db.exec(`CREATE TABLE IF NOT EXISTS steps (step TEXT); INSERT INTO steps VALUES ('${letter}')`),
});
const steps = (db: DatabaseSync) => db.prepare('SELECT group_concat(step) AS steps FROM steps').get()?.steps;

test('each is carried out once, in order, by whichever process comes first', () => {
  const [one, other] = open(2) as [DatabaseSync, DatabaseSync];
  migrate(one, [step(1, 'a'), step(2, 'b')], 'it');
  migrate(other, [step(1, 'a'), step(2, 'b'), step(3, 'c')], 'it');
  assert.deepEqual([steps(one), reached(one)], ['a,b,c', 3]);
});

test('one that fails leaves nothing', () => {
  const [db] = open() as [DatabaseSync];
  const bad: SqliteMigration = { number: 2, what: 'bad', apply: (file) => file.exec('SELECT bad') };
  assert.throws(() => migrate(db, [step(1, 'a'), bad], 'it'), /bad/);
  assert.equal(reached(db), 0);
  assert.throws(() => steps(db), /no such table/);
});

test('a file of a later version is refused', () => {
  const [db] = open() as [DatabaseSync];
  migrate(db, [step(1, 'a'), step(2, 'b')], 'it');
  assert.throws(() => migrate(db, [step(1, 'a')], 'it'), OperatorError);
});

test('an additive one leaves the number that earlier versions compare, until one that needs it', () => {
  const [db] = open() as [DatabaseSync];
  const first = step(1, 'a');
  const additive = [first, { ...step(2, 'b'), compatibleFrom: 1 }];
  migrate(db, additive, 'it');
  assert.deepEqual([steps(db), reached(db)], ['a,b', 1]);
  // The version before goes on, and this one does nothing twice.
  migrate(db, [first], 'it');
  migrate(db, additive, 'it');
  assert.equal(steps(db), 'a,b');
  const next = [...additive, { ...step(3, 'c'), compatibleFrom: 2 }];
  migrate(db, next, 'it');
  assert.deepEqual([steps(db), reached(db)], ['a,b,c', 2]);
  migrate(db, additive, 'it');
  assert.throws(
    () => migrate(db, [first], 'it'),
    /^Error: it was written by a later version .*\(migration 2, this one knows 1\)/,
  );
  migrate(db, [...next, step(4, 'd')], 'it');
  assert.throws(() => migrate(db, next, 'it'), /migration 4, this one knows 3/);
});

const tables = `
  CREATE TABLE rds_tables (position INTEGER PRIMARY KEY, className TEXT NOT NULL UNIQUE, sqlName TEXT NOT NULL,
    permissions TEXT NOT NULL, timeline TEXT, indexes TEXT NOT NULL, textIndex TEXT NOT NULL);
  CREATE TABLE rds_fields (className TEXT NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
    targetClass TEXT, columnName TEXT NOT NULL, PRIMARY KEY (className, name)) WITHOUT ROWID;
  INSERT INTO rds_tables VALUES (1, 'T', 't_T', '{}', NULL, '[]', '[]');
`;
const counted = 'CREATE TABLE rds_catalog (version INTEGER NOT NULL); INSERT INTO rds_catalog VALUES (7);';

for (const [what, sql] of [
  ['nothing at all', ''],
  ['no count of changes', tables],
  ['changes counted', tables + counted],
  [
    'changes and removals counted apart',
    `${tables}${counted} CREATE TABLE rds_removals (version INTEGER NOT NULL); INSERT INTO rds_removals VALUES (3);`,
  ],
  [
    'changes and removals counted together',
    `${tables} CREATE TABLE rds_catalog (changes INTEGER NOT NULL, removals INTEGER NOT NULL); INSERT INTO rds_catalog VALUES (7, 3);`,
  ],
] as const)
  test(`a catalogue with ${what} becomes one of now`, () => {
    const [db] = open() as [DatabaseSync];
    db.exec(sql);
    migrate(db, catalogMigrations, 'it');
    const counts = db.prepare('SELECT * FROM rds_catalog').all();
    assert.deepEqual(
      counts.map((row) => Object.keys(row)),
      [['changes', 'removals', 'templateVersion']],
    );
    assert.equal(db.prepare('SELECT count(*) AS n FROM rds_tables').get()?.n, sql === '' ? 0 : 1);
  });

test('numbers have no gaps', () => {
  for (const list of [catalogMigrations, registryMigrations])
    assert.deepEqual(
      list.map(({ number }) => number),
      list.map((_, index) => index + 1),
    );
});
