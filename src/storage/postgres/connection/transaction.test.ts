import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitUnknown, StatementFailed } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';
import { sql, withDatabase } from './testing/open.ts';
import { runAtomically } from './transaction.ts';

/** A connection whose session ends with this error at one of the statements, counted from 0, and at all later ones. */
function ending(at: number, code: string): PipelinedConnection {
  let sent = 0;
  const failure = Object.assign(new Error('text'), { code, severity: 'FATAL' });
  const answer = () =>
    sent++ < at
      ? Promise.resolve({ rows: [], affected: 0, command: '' })
      : Promise.reject(sent === at + 1 ? failure : new Error('Connection terminated'));
  return { check() {}, query: answer, command: answer } as unknown as PipelinedConnection;
}

test('a transaction whose session the server ended before the commit has not taken effect; what a pooler lost may have', async () => {
  const run = (at: number, code: string) => runAtomically(ending(at, code), [sql('SELECT 1'), sql('SELECT 2')], { lock: 300 });
  const undone = (error: Error) => !(error instanceof CommitUnknown) && !(error instanceof StatementFailed);
  for (const code of ['57P01', '57P02', '25P03', '25006'])
    for (const at of [0, 1, 2]) await assert.rejects(run(at, code), undone, `${code} at ${at}`);
  await assert.rejects(run(3, '57P01'), CommitUnknown);
  const lost = ['08P01', 'ECONNRESET', 'EPIPE', '08006'];
  for (const code of lost) for (const at of [0, 2]) await assert.rejects(run(at, code), CommitUnknown);

  const runAtOnce = (error: Error) => {
    const transaction = () => Promise.reject(new StatementFailed(1, error));
    return runAtomically({ check() {}, transaction } as unknown as PipelinedConnection, [sql('SELECT 1'), sql('SELECT 2')], {});
  };
  const failure = (code: string) => Object.assign(new Error('text'), { code, severity: 'FATAL' });
  for (const code of ['57P01', '57P02', '25P03', '25006']) await assert.rejects(runAtOnce(failure(code)), undone, code);
  for (const code of lost) await assert.rejects(runAtOnce(failure(code)), CommitUnknown);
  await assert.rejects(runAtOnce(new Error('Connection terminated after it was done: text')), CommitUnknown);
});

test('the limit of a transaction that stands still is the one asked for, and the session keeps its own', () =>
  withDatabase(async ({ database }) => {
    const show = sql('SHOW idle_in_transaction_session_timeout');
    const limit = async (idleLimit?: number) =>
      (await database.transact((session) => session.query(show), idleLimit === undefined ? {} : { idleLimit })).rows[0]?.[0];
    assert.deepEqual([await limit(), await limit(0), await limit(1500), await limit()], ['1min', '0', '1500ms', '1min']);
  }));
