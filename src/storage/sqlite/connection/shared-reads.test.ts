import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Connection } from './connection.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-shared-'));
const path = join(directory, 'records.sqlite');
const connection = new Connection(path, 'write');
connection.execute('CREATE TABLE t (n)');
connection.execute('INSERT INTO t VALUES (0)');
const other = new DatabaseSync(path);
after(() => {
  connection.close();
  other.close();
  rmSync(directory, { recursive: true });
});

const statement = { text: 'SELECT n FROM t', params: [] };
const short = () => connection.first(statement, 1_000)?.[0];
const write = (n: number) => other.exec(`UPDATE t SET n = ${n}`);

/** Reads, lets another connection write, and returns what a second read of the same turn sees after some work. */
async function seenAfter(work: () => void): Promise<boolean> {
  await nextTurn();
  const before = Number(short());
  assert.equal(connection.isTransaction, false);
  write(before + 1);
  work();
  return short() === before + 1;
}

test('short reads of one turn share a snapshot, which ends with the turn', async () => {
  assert.equal(await seenAfter(() => {}), false);
  const before = short();
  await nextTurn();
  assert.equal(short(), Number(before) + 1);
});

const others: Readonly<Record<string, () => void>> = {
  'a write': () => connection.execute('UPDATE t SET n = n'),
  'a write transaction': () => {
    assert.ok(connection.begin());
    assert.equal(connection.isTransaction, true);
    assert.equal(connection.all(statement, 1_000).length, 1);
    connection.execute('COMMIT');
  },
  'a look at the version of the data': () => void connection.first({ text: 'PRAGMA data_version', params: [] }),
  'a use of the database': () => connection.use(() => {}),
  'a look at the WAL': () => assert.ok(connection.logLength()),
};
for (const [name, work] of Object.entries(others)) test(`${name} ends it`, async () => assert.ok(await seenAfter(work)));

test('a connection that is reopened shares anew', async () => {
  await nextTurn();
  const before = Number(short());
  write(before + 1);
  connection.reopen();
  assert.equal(short(), before + 1);
  assert.equal(await seenAfter(() => {}), false);
});
