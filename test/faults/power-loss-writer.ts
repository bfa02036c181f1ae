/**
 * A process that writes groups of rows through the write queue of the embedded engine, and copies the WAL into the file so often that it begins anew
 * every few groups: `power-loss-writer.ts FILE`. Prints each row whose write was acknowledged.
 */
import { writeSync } from 'node:fs';
import { Connection } from '../../src/storage/sqlite/connection/connection.ts';
import { copyWal } from '../../src/storage/sqlite/connection/statements.ts';
import { WriteQueue } from '../../src/storage/sqlite/writes/write-queue.ts';

const [path = ''] = process.argv.slice(2);
const ROWS = 8;
const connection = new Connection(path, 'write');
connection.execute('CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, name TEXT UNIQUE, text TEXT)');
connection.disableLockWait();
const none = () => {};
const commits = new WriteQueue(connection, {
  ...{
    began: none,
    appended: none,
    ended: none,
    undone: none,
    committed: none,
    rolledBack: none,
    dropped: none,
    busy: none,
    unflushed: none,
  },
  isInPlace: () => true,
  whenBack: async () => {},
});
// Flushes what it copies, as the threads do that copy a WAL.
const copier = new Connection(path, 'write');

for (let group = 0; ; group++) {
  const rows = Array.from({ length: ROWS }, (_, at) => group * ROWS + at);
  const text = 'INSERT INTO t VALUES (?, ?, ?)';
  const add = (n: number) => () =>
    connection.run({ text, params: [n, `name ${(n * 7919) % 10_007}`, 'x'.repeat((n * 31) % 900)] });
  const done = await Promise.all(rows.map((n) => commits.run(add(n)).then(() => n)));
  writeSync(1, `${done.join('\n')}\n`);
  if (group % 3 === 2) await commits.exclusive(async () => copyWal(copier.db));
}
