import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isUnavailable } from '../../../errors/fail.ts';
import { beginWriting } from './write-lock.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-lock-'));
after(() => rmSync(directory, { recursive: true }));

test("another's write lock is waited for without holding up the event loop, and not for ever", async () => {
  const path = join(directory, 'one.sqlite');
  const other = new DatabaseSync(path);
  other.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n); BEGIN IMMEDIATE');
  const db = new DatabaseSync(path, { timeout: 0 });
  await assert.rejects(beginWriting(db, 50), isUnavailable);
  const begun = beginWriting(db, 10_000);
  await wait(100);
  assert.equal(db.isTransaction, false);
  other.exec('COMMIT');
  await begun;
  assert.equal(db.isTransaction, true);
  db.close();
  other.close();
});
