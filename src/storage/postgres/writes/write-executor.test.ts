import assert from 'node:assert/strict';
import { beforeEach, type TestContext, test } from 'node:test';
import type { ServiceError } from '../../../errors/fail.ts';
import { CONTENTION_LIMIT_MS } from '../../../kernel/contention.ts';
import { applyChange, emptySchema } from '../../../schema/change.ts';
import { tableOf } from '../../../schema/model.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { rowContext } from '../../sql/testing/addresses.ts';
import { CommitUnknown, StatementFailed } from '../connection/map-error.ts';
import type { SchemaCache, Version } from '../schema/schema-cache.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { obstaclesOf, tableObstacle } from './obstacles.ts';
import type { QueuedWrite } from './queued-write.ts';
import type { Transactions } from './transaction.ts';
import { WriteExecutor } from './write-executor.ts';

const failed = (code: string) => Object.assign(new Error(code), { code, severity: 'ERROR' });
const LOCK_TIMEOUT = failed('55P03');
const DEADLOCK = failed('40P01');
/** Schema version as another process left it: the change has become an ordinary write. */
const MADE: Pick<Version, 'schema' | 'changes'> = { schema: emptySchema, changes: 1 };

let nowMs: number;
/** Outcome and duration of each transaction, in order. */
let outcomes: { readonly outcome: Error | 'made'; readonly takesMs?: number }[];
let executor: WriteExecutor;
let rejected: unknown;

beforeEach((t) => {
  nowMs = 1_000;
  (t as TestContext).mock.method(performance, 'now', () => nowMs);
  rejected = undefined;
  const transact = async () => {
    const { outcome, takesMs = 0 } = outcomes.shift() ?? assert.fail('one transaction too many');
    nowMs += takesMs;
    if (outcome instanceof Error) throw outcome;
    return { version: MADE, plan: { changes: [], mutations: [] } };
  };
  executor = new WriteExecutor({
    ...rowContext,
    dialect: postgresDialect('rds_test'),
    isCoordinator: false,
    schemaName: 'rds_test',
    schemaCache: { schema: emptySchema, changes: 1, adopt: () => {} } as unknown as SchemaCache,
    transactions: { transact, atomically: transact } as unknown as Transactions,
    reloadSchema: async () => {},
    recordWrites: () => {},
    mapFault: (error) => error,
    query: async () => [],
  });
});

function queued(plan: Partial<WritePlan>, more: Partial<QueuedWrite> = {}): QueuedWrite {
  const write: QueuedWrite = {
    write: { plan: () => write.plan },
    turn: 0,
    order: 0,
    behind: false,
    plan: { changes: [], mutations: [], ...plan },
    records: ['record'],
    locks: [],
    plannedUnder: emptySchema,
    contention: undefined,
    heldSince: 0,
    isSuspect: false,
    isSettled: false,
    resolve() {
      write.isSettled = true;
    },
    reject(error) {
      write.isSettled = true;
      rejected = error;
    },
    ...more,
  };
  return write;
}

const change = () => queued({ changes: [{ kind: 'createTable', className: 'A' }] });

test('a write whose plan is a stale one each time is refused after a time, and no sooner than after three plans', async () => {
  const write = change();
  outcomes = Array.from({ length: 3 }, () => ({ outcome: 'made', takesMs: 2 * CONTENTION_LIMIT_MS }));
  assert.equal((await executor.executeChange(write)).retry.length, 1);
  assert.equal((await executor.executeChange(write)).retry.length, 1);
  assert.equal((await executor.executeChange(write)).retry.length, 0);
  assert.equal((rejected as { key?: string }).key, 'unavailable');
});

test('the time in which others hold what a write needs is none in which its plan was a stale one', async () => {
  const write = change();
  outcomes = [{ outcome: 'made' }, { outcome: 'made' }, { outcome: LOCK_TIMEOUT }, { outcome: 'made' }, { outcome: 'made' }];
  await executor.executeChange(write);
  await executor.executeChange(write);
  nowMs += 200;
  assert.deepEqual((await executor.executeChange(write)).obstacles, ['change A']);
  nowMs += CONTENTION_LIMIT_MS;
  assert.equal((await executor.executeChange(write)).retry.length, 1);
  assert.equal((await executor.executeChange(write)).retry.length, 1);
  assert.equal(rejected, undefined);
});

test('a transaction that takes long and meets a deadlock is run again', async () => {
  const write = queued({});
  outcomes = Array.from({ length: 3 }, () => ({ outcome: DEADLOCK, takesMs: 2 * CONTENTION_LIMIT_MS }));
  await executor.execute([write], 'short');
  assert.equal(outcomes.length, 0);
  assert.equal((rejected as { key?: string }).key, 'unavailable');
});

test('where nobody says what is held, something is in the way of each write that may be passed over for it alone', async () => {
  const table = tableOf(applyChange(emptySchema, { kind: 'createTable', className: 'A' }), 'A');
  const update: Mutation = { kind: 'update', table, objectId: '1', guard: null, assignments: [], returning: [] };
  const deleteAll: Mutation = { kind: 'deleteAll', table, filter: { kind: 'and', items: [] } };
  const named: [QueuedWrite, string][] = [
    [queued({ mutations: [update] }), 'record record'],
    [queued({ mutations: [deleteAll, update] }), 'record record'],
    [queued({ mutations: [update] }, { behind: true }), tableObstacle(table.sqlName)],
    [queued({ mutations: [deleteAll] }, { records: [] }), 'filter A'],
    [queued({ changes: [{ kind: 'setTemplateVersion', version: 1 }] }, { records: [] }), 'unnamed'],
    [queued({ changes: [{ kind: 'createTable', className: 'A' }] }, { records: [] }), 'change A'],
  ];
  for (const [write, obstacle] of named) {
    const isChange = write.plan.changes.length > 0;
    outcomes = [{ outcome: isChange ? LOCK_TIMEOUT : new StatementFailed(0, LOCK_TIMEOUT) }];
    const { obstacles } = await (isChange ? executor.executeChange(write) : executor.execute([write], 'short'));
    assert.deepEqual(obstacles, [obstacle]);
    // It waits for the obstacle; otherwise it would be retried immediately, without end.
    assert.ok(obstaclesOf(write).includes(obstacle));
  }
});

test('a commit of unknown outcome is not repeated, even if a lock timeout ended it', async () => {
  const write = queued({});
  outcomes = [{ outcome: new StatementFailed(0, failed('XX000')) }, { outcome: new CommitUnknown(LOCK_TIMEOUT) }];
  const done = await executor.execute([write], 'short');
  assert.deepEqual(
    [done.retry.length, write.isSettled, (rejected as ServiceError | undefined)?.key],
    [0, true, 'outcomeUnknown'],
  );
});

test('a change of the schema whose commit is of unknown outcome is not repeated', async () => {
  const write = change();
  outcomes = [{ outcome: new CommitUnknown(LOCK_TIMEOUT) }];
  const done = await executor.executeChange(write);
  assert.deepEqual(
    [done.retry.length, write.isSettled, (rejected as ServiceError | undefined)?.key],
    [0, true, 'outcomeUnknown'],
  );
});
