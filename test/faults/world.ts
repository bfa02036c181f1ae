/**
 * A service with clients, beside which faults begin and end, and all that must hold during and after them. Faults of a world follow each other
 * on one service: `world.beside({...})`. For a single fault: `besideFault({...})`. Reference: faults.md#passing-faults.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeData } from '../support/data.ts';
import { type Json, path } from '../support/records.ts';
import { type ProcessOptions, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { type Clients, startClients, TABLE, type Tally } from './clients.ts';
import { assertHealth, assertLog, assertTally, type Expected, WITHIN_MS } from './expected.ts';
import { Findings } from './findings.ts';
import { assertWorks, prepare } from './fixtures.ts';
import { Ledger, type Stored } from './ledger.ts';
import { allEnded, linesOf } from './log.ts';

/** Timeout for the jobs that were queued during a fault. */
const JOBS_DONE_MS = 20_000;

export interface FaultOptions {
  /** Begins the fault, waits, and ends it: it is over when this resolves. */
  fault(world: World): Promise<void>;
  expect?: Expected;
  /** Name of the fault in messages. */
  name?: string;
}

export interface World {
  /** The service that runs now. */
  service: ServiceProcess;
  readonly ledger: Ledger;
  /** Runs clients before, during and after a fault, and asserts what they were answered. @returns the answers during the fault */
  beside(options: FaultOptions): Promise<Tally>;
  /** Starts a service on the same data after the present one has ended. */
  restart(env?: Record<string, string>): Promise<void>;
  /** Compares the stored data with the answers. Call it when no client runs. */
  verify(): Promise<void>;
  /** Verifies, waits for the ends of all conditions, and stops the service; the exit code is 0. */
  close(): Promise<void>;
}

/** Cleanup of the worlds of this file. `after` within a `before` hook would run right after that hook. */
const started = new Set<() => Promise<void>>();
after(() => Promise.all([...started].map((end) => end())));

/** Starts a service with tables, a trigger and a schedule. Its data is removed with it, unless it is given. */
export async function startWorld(options: ProcessOptions = {}): Promise<World> {
  const { engine = 'sqlite' } = options;
  const isGiven = options.dataDir !== undefined;
  // Kept between two services. A prepared first system is copied.
  const own = isGiven ? undefined : await makeData(engine);
  const data = own && { dataDir: own.dataDir, ...(own.database && { database: own.database }) };
  let service = await startServiceProcess({ ...data, ...options });
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
      service = await startServiceProcess({
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
export async function besideFault({ fault, expect, name, ...options }: ProcessOptions & FaultOptions): Promise<void> {
  const world = await startWorld(options);
  await world.beside({ fault, ...(expect && { expect }), ...(name !== undefined && { name }) });
  await world.close();
}

/** Asserts that SQLite finds no damage in the file of the system. */
function assertWhole({ dataDir, appId }: ServiceProcess): void {
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

/** Waits until the actions of all triggers are done, then compares the stored data with the answers. */
async function verifySoon({ service, ledger }: World): Promise<void> {
  const all = async (table: string, where: object = {}): Promise<Json[]> => {
    const answer = await service.call('GET', path(table), { query: { where, limit: 1_000_000 } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.results;
  };
  const records: Stored[] = await all(TABLE);
  const names = async () => (await all('Tasks')).map(({ Name }) => Name as string);
  const deadline = Date.now() + JOBS_DONE_MS;
  let tasks = await names();
  while (!ledger.hasAllTasks({ records, tasks }) && Date.now() < deadline) {
    await wait(200);
    tasks = await names();
  }
  const timeline = (await all('_Timeline', { objectClass: TABLE })) as Json;
  const failed = await all('_syslogTriggers', { error: { $exists: true } });
  ledger.verify({ records, timeline, tasks, failed });
}
