import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isUnavailable } from '../../../errors/fail.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { CommitUnknown, unavailable } from './map-error.ts';
import { markLostNode, NodeUnanswered } from './node-errors.ts';
import { NodeOutages } from './node-outages.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

const refused = (node: string) =>
  markLostNode(
    Object.assign(
      new Error(`connection to the remote node service@${node} failed with the following error: Connection refused`),
      {
        severity: 'ERROR',
        code: '08006',
      },
    ),
  );

/** Waits for a state, which the time limit of the run bounds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await wait(5);
}

/** A cluster of two nodes with three systems, of which some nodes are away. */
function cluster(...away: string[]) {
  const down = new Set(away);
  const locations: (readonly [string | null, string])[] = [
    ['rds_a', '10.0.0.1:5432'],
    ['rds_b', '10.0.0.2:5432'],
    ['rds_c', '10.0.0.2:5432'],
    [null, '10.0.0.1:5432'],
    [null, '10.0.0.2:5432'],
  ];
  const reported: string[] = [];
  const checked: string[] = [];
  const outages = new NodeOutages({
    isCoordinator: true,
    conditions: {
      met: (what, about) => void reported.push(`met ${what} ${about?.node}`),
      over: (about, what) => void reported.push(`over ${what} ${about?.node}`),
    },
    query: async ({ text, params }: Statement) => {
      if (text.includes('pg_dist_node')) return locations;
      const node = `${params[0]}:${params[1]}`;
      checked.push(node);
      return [[down.has(node) ? 0 : 1]];
    },
  });
  const isRefused = (system: string) => {
    try {
      outages.require(system);
      return false;
    } catch (error) {
      assert.ok(isUnavailable(error) && (error as Error).cause instanceof NodeUnanswered);
      return true;
    }
  };
  return { outages, locations, down, reported, checked, isRefused };
}

test('work of the systems of a node that is away is refused until a probe finds it back; the others go on', async () => {
  const { outages, down, reported, checked, isRefused } = cluster('10.0.0.2:5432');
  assert.equal(isRefused('rds_b'), false);
  assert.equal(outages.met(unavailable(refused('10.0.0.2:5432')), 'rds_b'), false);
  await until(() => isRefused('rds_b'));
  assert.equal(outages.met(unavailable(refused('10.0.0.2:5432')), 'rds_b'), true);
  assert.deepEqual([isRefused('rds_a'), isRefused('rds_c'), isRefused('rds_new')], [false, true, false]);
  assert.deepEqual(outages.unreachable, { nodes: 1, systems: 2 });
  assert.equal(outages.whenBack('rds_a'), undefined);
  const back = outages.whenBack('rds_c');
  assert.ok(back);
  await until(() => checked.length > 0);
  assert.ok(isRefused('rds_c'));
  down.clear();
  await back;
  assert.deepEqual([isRefused('rds_b'), isRefused('rds_c')], [false, false]);
  assert.deepEqual(outages.unreachable, { nodes: 0, systems: 0 });
  assert.equal(reported.at(0), 'met a node of the database cannot be reached 10.0.0.2:5432');
  assert.equal(reported.at(-1), 'over a node of the database cannot be reached 10.0.0.2:5432');
  assert.ok(checked.every((node) => node === '10.0.0.2:5432'));
  outages.close();
});

test('one error is no proof: a node that answers the coordinator is not away, nor is one that is not of the cluster', async () => {
  const { outages, isRefused, checked, reported } = cluster();
  outages.met(refused('10.0.0.1:5432'), 'rds_a');
  await until(() => checked.includes('10.0.0.1:5432'));
  outages.met(refused('10.0.0.9:5432'), 'rds_b');
  await until(() => checked.includes('10.0.0.2:5432'));
  await wait(1);
  assert.deepEqual([isRefused('rds_a'), isRefused('rds_b')], [false, false]);
  assert.ok(!checked.includes('10.0.0.9:5432'));
  assert.equal(reported.length, 2);
  outages.close();
});

test('a commit whose outcome is unknown names no node: it is that of the system', async () => {
  const { outages, isRefused, checked } = cluster('10.0.0.2:5432');
  const lost = new CommitUnknown(
    markLostNode(
      Object.assign(new Error('could not commit transaction for shard 1 on any active node'), {
        severity: 'ERROR',
        code: 'XX000',
      }),
    ),
  );
  assert.equal(outages.met(lost, undefined), false);
  assert.equal(outages.met(lost, 'rds_c'), false);
  await until(() => isRefused('rds_c'));
  assert.deepEqual(new Set(checked), new Set(['10.0.0.2:5432']));
  assert.equal(outages.met(lost, 'rds_c'), true);
  outages.close();
});

test('a node that was removed from the cluster is waited for no longer', async () => {
  const { outages, locations, isRefused } = cluster('10.0.0.2:5432');
  outages.suspect('rds_b');
  await until(() => isRefused('rds_b'));
  // Its systems were moved; the locations are read again after five seconds.
  locations.splice(0, locations.length, ['rds_a', '10.0.0.1:5432'], ['rds_b', '10.0.0.1:5432'], [null, '10.0.0.1:5432']);
  await until(() => !isRefused('rds_b') && outages.unreachable.nodes === 0);
  outages.close();
});

test('work of no system reads no locations', () => {
  const outages = new NodeOutages({ isCoordinator: true, conditions: undefined, query: () => assert.fail('no query is sent') });
  assert.equal(outages.nodeOf(''), undefined);
});

test('on other servers nothing is tracked', async () => {
  const outages = new NodeOutages({
    isCoordinator: false,
    conditions: undefined,
    query: () => assert.fail('no query is sent'),
  });
  assert.equal(outages.met(refused('10.0.0.1:5432'), 'rds_a'), false);
  assert.equal(outages.nodeOf('rds_a'), undefined);
  outages.suspect('rds_a');
  outages.require('rds_a');
  assert.deepEqual(outages.unreachable, { nodes: 0, systems: 0 });
});

test('connections that wait for a node that does not answer are ended; a node that answers is left alone', async () => {
  const { outages, isRefused, checked } = cluster('10.0.0.2:5432');
  const ended: unknown[] = [];
  const link = (system: string | undefined) =>
    ({ system, destroy: (reason: Error) => ended.push(`${system} ${reason.message}`) }) as unknown as PipelinedConnection;
  const links = [link('rds_a'), link('rds_b'), link(undefined)];
  outages.checkSilent(links);
  await until(() => isRefused('rds_b'));
  assert.deepEqual(ended, []);
  outages.checkSilent(links);
  assert.deepEqual(ended, ['rds_b the node 10.0.0.2:5432 does not answer']);
  assert.equal(isRefused('rds_a'), false);
  outages.checkSilent(links);
  await until(() => checked.includes('10.0.0.1:5432'));
  // Not more often than every two seconds.
  assert.equal(checked.filter((node) => node === '10.0.0.1:5432').length, 1);
  outages.close();
});
