/** Commits whose flush takes long or fails, beside those of another process: what reads know, and what is taken back. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, beforeEach, mock, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isInDoubt, isUnavailable } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { FindParameters } from '../../query/index.ts';
import { createRecord, findRecords } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import type { TableSchema } from '../../schema/model.ts';
import { rowContext } from '../sql/testing/addresses.ts';
import { Connection } from './connection/connection.ts';
import { WalFlush } from './file/wal-flush.ts';
import { ReaderPool } from './reads/reader-pool.ts';
import { SqliteStore } from './store.ts';

/** Longer than the schema is known without a look. */
const NOTICED_MS = 20;

const directory = mkdtempSync(join(tmpdir(), 'rds-foreign-'));
const pool = new ReaderPool(1_000, assert.fail);
let own: SqliteStore;
let other: SqliteStore;
let path: string;
let number = 0;

const open = () => new SqliteStore(path, { pool, report: () => {}, ...rowContext });
const create = (store: SqliteStore, table: string, body: JsonObject) => createRecord(masterContext(store), table, body);
const find = async (table: string) => {
  const { results } = await findRecords(masterContext(own), table, new FindParameters(new Map()));
  return JSON.parse(results as string) as JsonObject[];
};

beforeEach(async () => {
  number++;
  path = join(directory, `${number}.sqlite`);
  own = open();
  other = open();
});
afterEach(async () => {
  await own.close();
  await other.close();
});
after(async () => {
  await pool.close();
  rmSync(directory, { recursive: true });
});

const names = async () => (await find('T')).map(({ name }) => name);

/** Makes the next flush wait. @returns `begun` resolves when it has begun */
function slowFlush() {
  const { flush } = WalFlush.prototype;
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const slow = mock.method(WalFlush.prototype, 'flush', async function (this: WalFlush) {
    slow.mock.restore();
    begun.resolve();
    await gate.promise;
    return flush.call(this);
  });
  return { begun: begun.promise, end: gate.resolve, fail: gate.reject };
}

test('what was read at a version of a table is no longer valid when the commit of another is seen', async () => {
  await create(own, 'Roles', { user: 'one' });
  await create(own, 'Others', { n: 1 });
  const slow = slowFlush();
  const written = create(own, 'Others', { n: 2 });
  await slow.begun;
  await create(other, 'Roles', { user: 'two' });
  await wait(NOTICED_MS);
  const version = own.tableVersion('Roles');
  assert.equal((await find('Roles')).length, 1);
  slow.end();
  await written;
  assert.equal((await find('Roles')).length, 2);
  assert.notEqual(own.tableVersion('Roles'), version);
});

test('a read with a field that another has added waits until it is seen', async () => {
  await create(own, 'T', { name: 'one' });
  const slow = slowFlush();
  const written = create(own, 'T', { name: 'two' });
  await slow.begun;
  await create(other, 'T', { name: 'three', added: 'x' });
  await wait(NOTICED_MS);
  assert.ok(own.schema().tables.get('T')?.fields.has('added'));
  const found = find('T');
  await Promise.race([found, wait(NOTICED_MS)]);
  slow.end();
  await written;
  assert.deepEqual(
    (await found).map(({ added }) => added),
    [undefined, undefined, 'x'],
  );
});

test('a commit that cannot be flushed is not taken back once another has committed on top of it', async () => {
  await create(own, 'T', { name: 'one' });
  const slow = slowFlush();
  const written = create(own, 'T', { name: 'in doubt' });
  await slow.begun;
  await create(other, 'T', { name: 'of another' });
  const again = slowFlush();
  slow.fail(new Error('EIO'));
  await again.begun;
  again.fail(new Error('EIO'));
  await assert.rejects(written, isInDoubt);
  assert.deepEqual(await names(), ['one', 'in doubt', 'of another']);
});

test('a write is not refused because of one that was taken back', async () => {
  await create(own, 'T', { name: 'one' });
  const slow = slowFlush();
  const same = Promise.allSettled([1, 2].map((n) => create(own, 'T', { objectId: 'same', name: `${n}` })));
  await slow.begun;
  const again = slowFlush();
  slow.fail(new Error('EIO'));
  await again.begun;
  again.fail(new Error('EIO'));
  for (const outcome of await same) assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason));
  assert.deepEqual(await names(), ['one']);
});

test('a read waits for the fields that it was planned with, not for later ones', async () => {
  await create(own, 'T', { name: 'one' });
  const first = slowFlush();
  const added = create(own, 'T', { first: 1 });
  await first.begun;
  const found = find('T');
  const later = create(own, 'T', { second: 2 });
  while (!own.schema().tables.get('T')?.fields.has('second')) await wait(1);
  const second = slowFlush();
  first.end();
  await added;
  assert.equal((await found).length, 2);
  await second.begun;
  second.end();
  await later;
});

test('what reads all of a store, such as a backup, fails if a commit is taken back meanwhile', async () => {
  await create(own, 'T', { name: 'one' });
  const slow = slowFlush();
  const written = create(own, 'T', { name: 'two' });
  await slow.begun;
  const again = slowFlush();
  const copied = own.withSnapshot(async (snapshot) => {
    await snapshot.count(snapshot.schema.tables.get('T') as TableSchema);
    slow.fail(new Error('EIO'));
    await again.begun;
    again.fail(new Error('EIO'));
    await assert.rejects(written, isUnavailable);
  });
  await assert.rejects(copied, isUnavailable);
});

test('what another process commits while a transaction begins is not taken back with it', async () => {
  await create(own, 'T', { name: 'one' });
  const foreign = new DatabaseSync(path);
  foreign.exec('CREATE TABLE foreign_rows (n)');
  const { logLength } = Connection.prototype;
  let n = 0;
  const racing = mock.method(Connection.prototype, 'logLength', function (this: Connection) {
    const length = logLength.call(this);
    if (n < 2) foreign.exec(`INSERT INTO foreign_rows VALUES (${++n})`);
    return length;
  });
  const slow = slowFlush();
  const written = create(own, 'T', { name: 'two' });
  await slow.begun;
  racing.mock.restore();
  const again = slowFlush();
  slow.fail(new Error('EIO'));
  await again.begun;
  again.fail(new Error('EIO'));
  await assert.rejects(written, isUnavailable);
  assert.deepEqual({ ...foreign.prepare('SELECT count(*) AS n FROM foreign_rows').get() }, { n: 2 });
  foreign.close();
});
