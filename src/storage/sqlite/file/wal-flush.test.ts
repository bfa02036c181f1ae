import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { WalFlush } from './wal-flush.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-flush-'));
after(() => rmSync(directory, { recursive: true }));

/** Counts the descriptors of a file that this process has. */
const descriptorsOf = (path: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;

test('the descriptor of a store’s file stays open until SQLite has closed the file', async () => {
  const path = join(directory, 'one.sqlite');
  writeFileSync(path, '');
  const connection = { path, openings: 0 };
  const flush = new WalFlush(connection);
  await flush.flushFile();
  await flush.flushFile();
  assert.equal(descriptorsOf(path), 1);
  connection.openings++;
  await flush.flushFile();
  flush.close();
  assert.equal(descriptorsOf(path), 2, 'closing one would release the locks of the new connection');
  flush.closed();
  assert.equal(descriptorsOf(path), 0);
});

test('a file that is missing is left to SQLite', async () => {
  const flush = new WalFlush({ path: join(directory, 'none.sqlite'), openings: 0 });
  await flush.flushFile();
  flush.closed();
});
