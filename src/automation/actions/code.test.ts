import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import type { TriggeringRecord } from '../model/model.ts';
import type { RetryableJob } from '../queue/retryable-jobs.ts';
import { cause, makeWorld, type World } from '../testing/world.ts';
import { attemptCall, serverSideCode } from './server-side-code.ts';

let world: World;
let record: TriggeringRecord;

before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  world.addFunction(
    'note',
    `export default async ({ system, signal, ...given }) => {
      await system.create('Notes', { Name: JSON.stringify(given) });
      given.record.Name = 'spoilt';
    }`,
  );
  world.addFunction('throw', 'export default () => { throw new Error("Sold out"); }');
  record = await world.read('Probes', await world.create('Probes', { Name: 'one', Tags: ['a'] }));
});
after(() => world.close());

const log = async (runId: string) => (await world.all('_syslogTriggers')).filter(({ objectId }) => objectId === runId);
const notes = async () => (await world.all('Notes')).map(({ Name }) => JSON.parse(Name as string));
/** Returns the rows of the hidden queue. */
async function queued(store: Store): Promise<JsonObject[]> {
  const fields = [
    'objectId',
    'kind',
    'triggers',
    'event',
    'objectClass',
    'objectIdValue',
    'level',
    'source',
    'chain',
    'state',
    'owner',
  ];
  return readRows(store, { className: '_TriggerQueue', fields, filter: () => ({ kind: 'always' }) });
}

test('a call without a queue: the record, the trigger and the attempt; the caller notes that it is done', async () => {
  world.writes.length = 0;
  const run = world.run('server-side-code', { functionName: 'note', useQueue: false }, record, { attempt: 2 });
  const { fields } = structuredClone(record);
  await serverSideCode(run, world.services);
  const trigger = { id: 'trigger001', name: 'One', actionId: 'action0001', event: 'update', runId: run.runId, attempt: 2 };
  assert.deepEqual(await notes(), [{ input: {}, request: null, record: fields, trigger, user: null }]);
  assert.deepEqual(record.fields, fields);
  assert.deepEqual(await log(run.runId), []);
  assert.deepEqual(
    world.writes.map((write) => [write.table.className, write.cause, write.referer]),
    [['Notes', cause, 'server-side-code:note']],
  );
});

test('a call that fails is not done', async () => {
  for (const [functionName, message] of [
    ['throw', 'Sold out'],
    ['nowhere', 'User function not found'],
    ['getlead', 'User function not found'],
  ] as const) {
    const run = world.run('server-side-code', { functionName, useQueue: false }, record);
    await assert.rejects(serverSideCode(run, world.services), { name: 'ServiceError', message });
    assert.deepEqual(await log(run.runId), []);
  }
});

test('with useQueue the call is queued in the commit of the note; what is queued can be called', async () => {
  const before = (await notes()).length;
  const run = world.run('server-side-code', { functionName: 'note', useQueue: true }, record);
  await serverSideCode(run, world.services);
  assert.equal((await notes()).length, before);
  assert.equal((await log(run.runId)).length, 1);
  const [row, ...more] = await queued(world.store);
  assert.deepEqual(more, []);
  const { state, objectId: _, ...rest } = row as JsonObject;
  assert.deepEqual(rest, {
    kind: 'code',
    triggers: 'trigger001',
    event: 'update',
    objectClass: 'Probes',
    objectIdValue: record.objectId,
    level: 1,
    source: 'trigger001',
    chain: 'chain00001',
    owner: world.store.cluster.processId,
  });
  const attempt = await attemptCall(world.system, job(JSON.parse(state as string), 0), world.services);
  assert.deepEqual(attempt, { kind: 'done' });
  const called = (await notes()).at(-1);
  const trigger = { id: 'trigger001', name: 'One', actionId: 'action0001', event: 'update', runId: run.runId, attempt: 1 };
  assert.deepEqual(called, { input: {}, request: null, record: record.fields, trigger, user: null });
  assert.deepEqual(world.writes.at(-1)?.cause, cause);
});

test('where the commit cannot be, nothing is queued', async () => {
  const before = (await queued(world.store)).length;
  const run = world.run('server-side-code', { functionName: 'note', useQueue: true }, record, {
    done: (schema) => {
      const table = schema.tables.get('Accounts');
      return table ? [{ kind: 'require', table, filter: { kind: 'never' } }] : [];
    },
  });
  await assert.rejects(serverSideCode(run, world.services), { key: 'objectNotFound' });
  assert.equal((await queued(world.store)).length, before);
});

const job = (state: JsonObject, attempts: number): RetryableJob => ({
  id: 'a',
  state,
  attempts,
  queuedAt: 0,
  cause,
  done: () => [],
  context: world.master,
  reading: world.master,
});

test('six attempts, with growing pauses; the log tells of the last, and of nothing when it succeeds', async () => {
  const run = world.run('server-side-code', { functionName: 'throw', useQueue: true }, record);
  await serverSideCode(run, world.services);
  const state = JSON.parse((await queued(world.store)).at(-1)?.state as string);
  const pauses: unknown[] = [];
  const commit = async (attempt: Awaited<ReturnType<typeof attemptCall>>) =>
    world.store.write({ plan: (schema) => ({ changes: [], mutations: attempt.steps?.(schema) ?? [] }) });
  for (let attempts = 0; attempts < 6; attempts++) {
    const attempt = await attemptCall(world.system, job(state, attempts), world.services);
    pauses.push(attempt.kind === 'again' ? attempt.delayMs : attempt.kind);
    await commit(attempt);
    assert.equal((await log(run.runId))[0]?.error, '"Sold out"');
  }
  assert.deepEqual(pauses, [1_000, 5_000, 30_000, 120_000, 600_000, 'failed']);
  const later = await attemptCall(world.system, job({ ...state, functionName: 'note' }, 3), world.services);
  assert.equal(later.kind, 'done');
  await commit(later);
  assert.equal((await log(run.runId))[0]?.error, undefined);
  assert.equal((await notes()).at(-1)?.trigger.attempt, 4);
});
