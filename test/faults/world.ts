/**
 * A service beside whose clients a fault comes and goes, and everything that has to hold meanwhile and afterwards (CONTRACT "Operations",
 * "Faults of the store"). Faults of one world follow each other on one service: `world.beside({...})`; or one alone: `besideFault({...})`.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, path } from '../support/records.ts';
import { type Service, type StartOptions, startService } from '../support/service.ts';
import { type Clients, type Probe, startClients, TABLE, type Tally } from './clients.ts';
import { Ledger, type Stored } from './ledger.ts';
import { allEnded, assertBounded, conditionsThat, linesOf } from './log.ts';

/** CONTRACT: all works within two seconds of the end of a fault. As much again for a machine that others use too. */
const WITHIN_MS = 2_000 + 2_000;
/** What was queued meanwhile is done soon after: it is much. */
const SETTLED_MS = 20_000;
const CLOCK = 'FaultedClock';
const TICKS = 'FaultedTicks';

/** What a fault is to look like from outside. What is left out is not asked. */
export interface Expected {
  /** Whether some writes are refused (or in doubt) meanwhile, or all are done. */
  writes?: 'fail' | 'work';
  reads?: 'fail' | 'work';
  /** `unavailable`: 503 within two seconds, and 200 again within two seconds of the end. `ready`: 200 all the time. */
  ready?: 'ready' | 'unavailable';
  /** What the log says that began; `null`: nothing did. */
  condition?: string | RegExp | null;
  /** Connections break, as where a process ends: such writes are in doubt. */
  broken?: boolean;
}

export interface FaultOptions {
  /** Begins the fault, waits, and ends it: it is over when this resolves. */
  fault(world: World): Promise<void>;
  expect?: Expected;
  /** Told in messages. */
  name?: string;
}

export interface World {
  /** The one that runs now. */
  service: Service;
  readonly ledger: Ledger;
  /** What clients are answered while no fault is named, too. */
  beside(options: FaultOptions): Promise<Tally>;
  /** Another service on the same data, after this one has ended by whatever means. */
  restart(env?: Record<string, string>): Promise<void>;
  /** Compares what is stored with what was answered. Clients have to be quiet: not within a fault. */
  verify(): Promise<void>;
  /** Verifies, waits for the ends of all conditions, and stops the service; the exit code is 0. */
  close(): Promise<void>;
}

/** Starts a service with tables, a trigger and a schedule. Its data are removed with it, unless they are given. */
export async function startWorld(options: StartOptions = {}): Promise<World> {
  let service = await startService(options);
  const ledger = new Ledger();
  await prepare(service);
  let faults = 0;

  const world: World = {
    get service() {
      return service;
    },
    ledger,
    async restart(env = {}) {
      const { dataDir, database } = service;
      service = await startService({
        ...options,
        dataDir,
        ...(database && { database }),
        env: { ...options.env, ...env },
      });
    },
    async beside({ fault, expect = {}, name = 'a fault' }) {
      const clients = startClients(() => service, ledger, `f${++faults}`);
      try {
        const tally = await beside(world, clients, fault, expect, name);
        await clients.stop();
        assert.deepEqual(clients.violations.slice(0, 5), [], `${name}: answers that are not allowed`);
        await verifySoon(world);
        return tally;
      } finally {
        await clients.stop();
      }
    },
    verify: () => verifySoon(world),
    async close() {
      try {
        await verifySoon(world);
        await allEnded(service.output);
      } finally {
        assert.equal(await service.stop(), 0, service.output().slice(-3_000));
      }
    },
  };
  return world;
}

/** One fault, on a service of its own. */
export async function besideFault({ fault, expect, name, ...options }: StartOptions & FaultOptions): Promise<void> {
  const world = await startWorld(options);
  await world.beside({ fault, ...(expect && { expect }), ...(name !== undefined && { name }) });
  await world.close();
}

async function prepare({ call }: Service): Promise<void> {
  const string = { type: 'String' };
  const fields = { tag: string, a: string, b: string, c: { type: 'Object' }, filler: string };
  const timeline = { displayFields: {}, index: {} };
  const tables = { [TABLE]: { fields, timeline }, [CLOCK]: { fields: { tag: string } }, [TICKS]: { fields: { of: string } } };
  for (const [className, body] of Object.entries(tables)) {
    const { status, text } = await call('POST', `/platform/schemas/${className}`, { body: { className, ...body } });
    assert.equal(status, 200, text);
  }
  const makes = (table: string, values: object) => ({ type: 'create-object', actionData: { table, fields: values } });
  const task = { Name: 'faulted', table: TABLE, events: ['create'], actions: [makes('Tasks', { Name: '{{tag}}' })] };
  const tick = { Name: 'ticks', table: CLOCK, events: ['schedule'], actions: [makes(TICKS, { of: '{{tag}}' })] };
  const schedule = { cron: '* * * * * *', timezone: 'UTC' };
  for (const body of [task, { ...tick, schedule }]) {
    const { status, text } = await call('POST', path('_Trigger'), { body });
    assert.equal(status, 201, text);
  }
  const { status, text } = await call('POST', path(CLOCK), { body: { tag: 'tick' } });
  assert.equal(status, 201, text);
}

async function beside(
  world: World,
  clients: Clients,
  fault: FaultOptions['fault'],
  expect: Expected,
  name: string,
): Promise<Tally> {
  await wait(300);
  const before = clients.tally();
  assert.ok(before.writes.done > 0 && before.reads.done > 0, `${name}: before it, nothing works: ${JSON.stringify(before)}`);
  const [first, printed] = [world.service, world.service.output().length];
  const began = performance.now();
  await fault(world);
  const ended = performance.now();
  const during = clients.tally();
  await assertWorks(world, ended, name);
  await wait(300);
  const after = clients.tally();

  assert.ok(after.writes.done > 0 && after.reads.done > 0, `${name}: after it, clients are not served: ${JSON.stringify(after)}`);
  const failed = (of: Tally['reads']) => of.refused + of.inDoubt + of.late;
  const told = `${name}: ${JSON.stringify(during)}`;
  for (const kind of ['writes', 'reads'] as const) {
    if (expect[kind] === 'fail') assert.ok(failed(during[kind]) > 0, `${told}: no ${kind} failed`);
    if (expect[kind] === 'work') assert.ok(failed(during[kind]) === 0 && during[kind].done > 0, `${told}: ${kind} failed`);
  }
  if (!expect.broken) {
    const broken = [before, during, after].reduce((sum, { writes, reads }) => sum + writes.unanswered + reads.unanswered, 0);
    assert.equal(broken, 0, `${told}: broken connections`);
    assert.equal(first.process.exitCode ?? first.process.signalCode, null, `${told}: the process ended`);
  }
  assertHealth(clients.probes, began, ended, expect, name);
  const lines = linesOf(first.output().slice(printed));
  assertBounded(lines, name);
  const conditions = [...new Set(conditionsThat('began', lines))];
  const { condition } = expect;
  if (condition === null) assert.deepEqual(conditions, [], name);
  else if (typeof condition === 'string') assert.deepEqual(conditions, [condition], name);
  else if (condition)
    assert.ok(
      conditions.some((began) => condition.test(began)),
      `${name}: ${conditions}`,
    );
  return during;
}

/** New requests on new connections, triggers and the schedule, soon after the end. */
async function assertWorks({ service, ledger }: World, ended: number, name: string): Promise<void> {
  const until = async (what: string, seen: () => Promise<boolean>) => {
    for (;;) {
      const asked = performance.now();
      if (await seen()) return;
      assert.ok(asked - ended < WITHIN_MS, `${name}: ${what} not within ${WITHIN_MS} ms of its end`);
      await wait(40);
    }
  };
  const headers = { connection: 'close' };
  const { call } = service;
  const count = async (table: string, where: object) => {
    const answer = await call('GET', path(table), { query: { where, limit: 0, count: 1 }, headers });
    return answer.status === 200 ? (answer.body.count as number) : undefined;
  };
  const nonce = `works${performance.now()}`;
  await until('a create', async () => {
    const tag = `${nonce}-${performance.now()}`;
    const entry = ledger.begin(tag, nonce);
    const body = { tag, a: nonce, b: nonce, c: { nonce } };
    const answer = await call('POST', path(TABLE), { body, headers });
    if (answer.status === 201) {
      entry.created.outcome = 'done';
      entry.objectId = answer.body.objectId;
    } else if (answer.body?.inDoubt !== true) entry.created.outcome = 'refused';
    return answer.status === 201;
  });
  await until('a trigger', async () => ((await count('Tasks', { Name: { $regex: `^${nonce}` } })) ?? 0) > 0);
  let ticks: number | undefined;
  await until('a schedule', async () => {
    const now = await count(TICKS, {});
    ticks ??= now;
    return now !== undefined && ticks !== undefined && now > ticks;
  });
  await until('readiness', async () => (await call('GET', '/health/ready')).status === 200);
}

function assertHealth(probes: readonly Probe[], began: number, ended: number, { ready, broken }: Expected, name: string): void {
  const shown = (probe: Probe) =>
    `${probe.address} at ${Math.round(probe.at - began)} ms: ${probe.status} after ${Math.round(probe.ms)} ms`;
  if (!broken) {
    const deaf = probes.filter(
      ({ address, status, ms }) => status === 0 || ms > WITHIN_MS || (address === 'live' && status !== 200),
    );
    assert.deepEqual(deaf.map(shown), [], `${name}: health that is not answered`);
  }
  const meanwhile = probes.filter(({ address, at }) => address === 'ready' && at >= began);
  const unready = meanwhile.filter(({ status }) => status === 503);
  if (ready === 'ready') assert.deepEqual(unready.map(shown), [], `${name}: not ready`);
  if (ready === 'unavailable') {
    const [first] = unready;
    assert.ok(first, `${name}: readiness never says so`);
    assert.ok(first.at + first.ms - began <= WITHIN_MS, `${name}: readiness says so late: ${shown(first)}`);
    assert.equal(first.text, '{"status":"unavailable","checks":{"store":"unreachable"}}');
    const stillUnready = unready.filter(({ at }) => at > ended + WITHIN_MS);
    assert.deepEqual(stillUnready.map(shown), [], `${name}: not ready afterwards`);
  }
}

/** Once all triggers' actions are done. */
async function verifySoon({ service, ledger }: World): Promise<void> {
  const all = async (table: string, where: object = {}): Promise<Json[]> => {
    const answer = await service.call('GET', path(table), { query: { where, limit: 1_000_000 } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.results;
  };
  const records: Stored[] = await all(TABLE);
  const names = async () => (await all('Tasks')).map(({ Name }) => Name as string);
  const deadline = Date.now() + SETTLED_MS;
  let tasks = await names();
  while (!ledger.hasAllTasks({ records, tasks }) && Date.now() < deadline) {
    await wait(200);
    tasks = await names();
  }
  const timeline = (await all('_Timeline', { objectClass: TABLE })) as Json;
  const failed = await all('_syslogTriggers', { error: { $exists: true } });
  ledger.verify({ records, timeline, tasks, failed });
}
