import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { isUnavailable } from '../../../errors/fail.ts';
import { Connection } from '../connection/connection.ts';
import { DurableReads, openSnapshot } from './durable-reads.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-durable-'));
const path = join(directory, 'records.sqlite');
const writer = new Connection(path, 'write');
after(() => {
  writer.close();
  rmSync(directory, { recursive: true });
});

test('without a snapshot, reads are refused until the next transaction has ended', () => {
  const reads = new DurableReads(writer, () => openSnapshot(path, { met: () => {} }));
  const count = () => reads.first({ text: 'SELECT count(*) FROM t', params: [] })?.[0];
  writer.execute('CREATE TABLE t (n)');
  reads.hold();
  const locked = mock.method(Connection.prototype, 'first', () => {
    throw new Error('the database is locked');
  });
  reads.advance(true);
  locked.mock.restore();
  writer.execute('INSERT INTO t VALUES (1)');
  assert.throws(count, isUnavailable);
  reads.advance(false);
  assert.equal(count(), 1);
  reads.hold();
  writer.execute('INSERT INTO t VALUES (2)');
  assert.equal(count(), 1);
  reads.drop();
});
