/** Where a commit has to be flushed before another transaction may follow it in the WAL. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Connection } from '../connection/connection.ts';
import { DurableCommit } from './durable-commit.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-durable-'));
after(() => rmSync(directory, { recursive: true }));

test('what follows the first page of a WAL, which another process has written, waits for its flush', async () => {
  const path = join(directory, 'one.sqlite');
  const [mine, other] = [new Connection(path, 'write'), new Connection(path, 'write')];
  const durable = new DurableCommit(mine, { isInPlace: () => true, unflushed: () => assert.fail('no flush fails') });
  try {
    mine.execute('CREATE TABLE t (n)');
    mine.execute('PRAGMA wal_checkpoint(TRUNCATE)');
    other.execute('PRAGMA synchronous = OFF');
    other.execute('PRAGMA application_id = 0');
    assert.equal(mine.logLength()?.pages, 1);
    const begun = durable.begin();
    assert.ok(begun instanceof Promise, 'it waits');
    assert.equal(mine.isTransaction, false);
    assert.equal(await begun, true);
    mine.execute('INSERT INTO t VALUES (1)');
    await durable.commit().flushed;
    assert.equal(durable.begin(), true, 'later ones do not');
    mine.rollback();
  } finally {
    durable.close();
    durable.closed();
    mine.close();
    other.close();
  }
});
