import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connector } from './connect.ts';
import { ExclusivePool, type Lease, MAX_AGE_MS } from './exclusive-pool.ts';
import { NodeUnanswered } from './node-errors.ts';
import { PipelinedConnection } from './pipelined-connection.ts';
import { openClient, sql, withDatabase } from './testing/open.ts';

/** A pool of connections that do nothing, and how many were opened and ended. */
function poolOf(size: number, ageMs = 0) {
  const opened: PipelinedConnection[] = [];
  let ended = 0;
  const connect = async () => {
    const link = {
      lost: undefined,
      connectedAt: performance.now() - ageMs,
      lastReceivedAt: performance.now(),
      onLost: () => {},
      destroy() {},
      async end() {
        ended++;
        this.onLost();
      },
    };
    opened.push(link as unknown as PipelinedConnection);
    return opened.at(-1);
  };
  const connector = { connect } as unknown as Connector;
  const limits = { statement: 0, lock: 0 };
  const pool = new ExclusivePool({ connector, size, limits, maxWaitMs: 60_000, timeoutError: 'unavailable' });
  return { pool, opened, ended: () => ended };
}

test('the systems of one node get all connections except one together, so that a silent node does not stop those of others', async () => {
  const { pool } = poolOf(4);
  const taken: Lease[] = [];
  const take = (system: string, node?: string) =>
    void pool.lease(system, system, node).then(
      (lease) => taken.push(lease),
      () => {},
    );
  for (const system of ['a', 'b', 'c', 'd', 'e']) take(system, '10.0.0.1:5432');
  await nextTurn();
  assert.deepEqual(
    taken.map(({ link }) => link.system),
    ['a', 'b', 'c'],
  );
  take('x', '10.0.0.2:5432');
  await nextTurn();
  assert.equal(taken.at(-1)?.link.system, 'x');
  taken[0]?.release();
  taken[3]?.release();
  await nextTurn();
  assert.deepEqual(
    taken.slice(4).map(({ link }) => link.system),
    ['d'],
  );
  take('y');
  await nextTurn();
  assert.equal(taken.at(-1)?.link.system, 'y');
  // Ends the wait of the last one.
  await pool.close(0);
});

test('an old connection is replaced when it is returned, a younger one is used again', async () => {
  const young = poolOf(2, MAX_AGE_MS - 60_000);
  (await young.pool.lease('a')).release();
  (await young.pool.lease('a')).release();
  assert.deepEqual([young.opened.length, young.ended()], [1, 0]);
  const old = poolOf(2, MAX_AGE_MS + 1);
  (await old.pool.lease('a')).release();
  (await old.pool.lease('a')).release();
  assert.deepEqual([old.opened.length, old.ended()], [2, 2]);
});

test('what waits on a connection that was given up because of a node fails with that reason', () =>
  withDatabase(async ({ url }) => {
    const link = new PipelinedConnection(await openClient(url), { texts: null, answerTimeoutMs: 0, isCoordinator: true });
    const waiting = link.query(sql('SELECT pg_sleep(60)'));
    const reason = new NodeUnanswered('10.0.0.1:5432');
    link.destroy(reason);
    await assert.rejects(waiting, (error) => error === reason);
  }));
