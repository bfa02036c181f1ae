/**
 * A service beside whose clients a fault comes and goes, and everything that has to hold meanwhile and afterwards (CONTRACT "Operations",
 * "Faults of the store"). Faults of one world follow each other on one service: `world.beside({...})`; or one alone: `besideFault({...})`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeData } from '../support/data.ts';
import { type Json, path } from '../support/records.ts';
import { type Service, type StartOptions, startService } from '../support/service.ts';
import { type Clients, type Probe, startClients, TABLE, type Tally } from './clients.ts';
import { Ledger, type Stored } from './ledger.ts';
import { allEnded, assertBounded, conditionsOpen, conditionsThat, type Line, linesOf } from './log.ts';

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

/** Ends of what was started, which a hook may have done: what it leaves to be done after itself is done right after it. */
const started = new Set<() => Promise<void>>();
after(() => Promise.all([...started].map((end) => end())));

/** Starts a service with tables, a trigger and a schedule. Its data are removed with it, unless they are given. */
export async function startWorld(options: StartOptions = {}): Promise<World> {
  const { engine = 'sqlite' } = options;
  const isGiven = options.dataDir !== undefined;
  // Kept when one service ends and another follows; a first system that was made is copied.
  const own = isGiven ? undefined : await makeData(engine);
  const data = own && { dataDir: own.dataDir, ...(own.database && { database: own.database }) };
  let service = await startService({ ...data, ...options });
  started.add(async () => {
    if (service.process.exitCode === null && service.process.signalCode === null) await service.kill();
    await own?.remove();
  });
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
        const findings = new Findings(name);
        const tally = await beside(world, clients, fault, expect, findings);
        await clients.stop();
        await findings.look(() => assert.deepEqual(clients.violations.slice(0, 5), [], 'answers that are not allowed'));
        await findings.look(() => verifySoon(world));
        findings.throw();
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
        if (engine === 'sqlite') assertWhole(service);
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

/** Whether SQLite finds the file of the system as it should be. */
function assertWhole({ dataDir, appId }: Service): void {
  const db = new DatabaseSync(join(dataDir, 'systems', appId, 'records.sqlite'), { readOnly: true, timeout: 5_000 });
  assert.deepEqual(
    db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => ({ ...row })),
    [{ integrity_check: 'ok' }],
  );
  db.close();
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

/** All that was wrong with one fault: one finding often explains another. */
class Findings {
  readonly #of: string;
  readonly #messages: string[] = [];

  constructor(of: string) {
    this.#of = of;
  }

  async look(at: () => Promise<void> | void): Promise<void> {
    try {
      await at();
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      this.#messages.push(error.message);
    }
  }

  throw(): void {
    if (this.#messages.length > 0) assert.fail(`${this.#of}:\n${this.#messages.map((message) => `- ${message}`).join('\n')}`);
  }
}

async function beside(
  world: World,
  clients: Clients,
  fault: FaultOptions['fault'],
  expect: Expected,
  findings: Findings,
): Promise<Tally> {
  await wait(300);
  await clients.areServed(10_000);
  const before = clients.tally();
  const [first, printed] = [world.service, world.service.output().length];
  const began = performance.now();
  await fault(world);
  const ended = performance.now();
  const during = clients.tally();
  await findings.look(() => assertWorks(world, ended));
  const rest = clients.tally();
  await findings.look(() => clients.areServed(WITHIN_MS));
  const after = clients.tally();
  await findings.look(() => assertTally(during, expect));
  if (!expect.broken) {
    const broken = [before, during, rest, after].reduce(
      (sum, { writes, reads }) => sum + writes.unanswered + reads.unanswered,
      0,
    );
    await findings.look(() => assert.equal(broken, 0, `${broken} broken connections`));
    const exit = first.process.exitCode ?? first.process.signalCode;
    await findings.look(() => assert.equal(exit, null, `the process ended with ${exit}: ${first.output().slice(-2_000)}`));
  }
  await findings.look(() => assertHealth(clients.probes, began, ended, expect));
  await findings.look(() => assertLog(linesOf(first.output().slice(printed)), linesOf(first.output().slice(0, printed)), expect));
  return during;
}

function assertTally(during: Tally, expect: Expected): void {
  for (const kind of ['writes', 'reads'] as const) {
    const { done, refused, inDoubt, late, wrong } = during[kind];
    const failed = refused + inDoubt + late + wrong;
    const told = `${kind} meanwhile: ${JSON.stringify(during[kind])}`;
    if (expect[kind] === 'fail') assert.ok(failed > 0, `none failed; ${told}`);
    if (expect[kind] === 'work') assert.ok(failed === 0 && done > 0, `not all were done; ${told}`);
  }
}

/** @param before the lines before the fault: what ended less than five seconds ago, and is met again, goes on */
function assertLog(lines: readonly Line[], before: readonly Line[], { condition }: Expected): void {
  assertBounded(lines);
  if (condition === undefined) return;
  const isExpected = (name: string) => (typeof condition === 'string' ? name === condition : condition?.test(name) === true);
  const began = conditionsThat('began', lines);
  const others = began.filter((name) => !isExpected(name));
  assert.deepEqual(others, [], 'other conditions than expected');
  const isTold = [...conditionsOpen(before), ...began].some(isExpected);
  assert.ok(condition === null || isTold, `the log tells nothing of ${condition}`);
}

/** New requests on new connections, triggers and the schedule, soon after the end. */
async function assertWorks({ service, ledger }: World, ended: number): Promise<void> {
  const until = async (what: string, seen: () => Promise<boolean>) => {
    for (;;) {
      const asked = performance.now();
      if (await seen()) return;
      assert.ok(asked - ended < WITHIN_MS, `${what} not within ${WITHIN_MS} ms of its end`);
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

function assertHealth(probes: readonly Probe[], began: number, ended: number, { ready, broken }: Expected): void {
  const shown = (probe: Probe) =>
    `${probe.address} at ${Math.round(probe.at - began)} ms: ${probe.status} after ${Math.round(probe.ms)} ms`;
  if (!broken) {
    const deaf = probes.filter(
      ({ address, status, ms }) => status === 0 || ms > WITHIN_MS || (address === 'live' && status !== 200),
    );
    assert.deepEqual(deaf.map(shown), [], 'health that is not answered');
  }
  const meanwhile = probes.filter(({ address, at }) => address === 'ready' && at >= began);
  const unready = meanwhile.filter(({ status }) => status === 503);
  if (ready === 'ready') assert.deepEqual(unready.map(shown), [], 'not ready');
  if (ready === 'unavailable') {
    const [first] = unready;
    assert.ok(first, 'readiness never says so');
    assert.ok(first.at + first.ms - began <= WITHIN_MS, `readiness says so late: ${shown(first)}`);
    assert.equal(first.text, '{"status":"unavailable","checks":{"store":"unreachable"}}');
    const stillUnready = unready.filter(({ at }) => at > ended + WITHIN_MS);
    assert.deepEqual(stillUnready.map(shown), [], 'not ready afterwards');
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
