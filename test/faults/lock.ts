/** Another process that holds the write lock of an SQLite database. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Holds the lock until its standard input ends. */
const HOLDER = `
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(process.argv[1], { timeout: 10_000 });
  db.exec('BEGIN IMMEDIATE');
  process.stdout.write('held');
  process.stdin.resume().on('end', () => { db.exec('ROLLBACK'); db.close(); process.exit(0); });`;

/** Takes the lock. @returns releases it */
export async function holdLock(path: string): Promise<() => Promise<void>> {
  const args = ['--disable-warning=ExperimentalWarning', '-e', HOLDER, path];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return async () => {
    const exited = once(child, 'exit');
    child.stdin.end();
    assert.deepEqual(await exited, [0, null]);
  };
}
