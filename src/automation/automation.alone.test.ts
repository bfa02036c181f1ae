import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { serviceError } from '../errors/fail.ts';
import type { Engine, OpenedStore } from '../storage/engine.ts';
import type { KnownStore } from '../storage/identity.ts';
import type { Store } from '../storage/port.ts';
import { rowContext } from '../storage/sql/testing/addresses.ts';
import { embeddedCluster } from '../storage/sqlite/cluster/cluster.ts';
import { ReaderPool } from '../storage/sqlite/reads/reader-pool.ts';
import { SqliteRegistry } from '../storage/sqlite/registry.ts';
import { SqliteStore } from '../storage/sqlite/store.ts';
import { entryOf } from '../storage/testing/entry.ts';
import { Systems } from '../systems/index.ts';
import { newestVersion } from '../systems/migrations/index.ts';
import { Automation } from './automation.ts';
import type { ActionRun } from './model/action.ts';
import { finish, left, logged, makes, queueRows, servicesOf, trigger, type WorldOptions } from './run/testing/world.ts';
import { makeTables } from './schedule/testing/tables.ts';

/** An engine whose stores have the tables that triggers need. */
class SmallEngine implements Pick<Engine, 'open' | 'atRest' | 'cluster'> {
  cluster: Engine['cluster'] = embeddedCluster;
  readonly #directory: string;
  readonly #pool: ReaderPool;
  readonly log: string[] = [];
  /** Application ids of stores that may stay closed. */
  readonly resting = new Set<string>();

  constructor(directory: string, pool: ReaderPool) {
    this.#directory = directory;
    this.#pool = pool;
  }

  async atRest(stores: readonly KnownStore[]): Promise<ReadonlySet<string>> {
    return new Set(stores.filter(({ appId }) => this.resting.has(appId)).map(({ systemId }) => systemId));
  }

  async open({ appId, systemId }: KnownStore): Promise<OpenedStore> {
    this.log.push(`open ${appId}`);
    const path = join(this.#directory, `${appId}.sqlite`);
    const store = new SqliteStore(path, { pool: this.#pool, report: assert.fail, ...rowContext });
    if (store.schema().tables.size === 0) {
      await makeTables(store);
      await store.write({ plan: () => ({ changes: [{ kind: 'setTemplateVersion', version: newestVersion }], mutations: [] }) });
    }
    const close = store.close.bind(store);
    store.close = async () => {
      this.log.push(`close ${appId}`);
      await close();
    };
    return { store, identity: { systemId, appId, birth: 'one', generation: 1, making: null }, missingSince: null };
  }
}

let directory: string;
let registry: SqliteRegistry;
let pool: ReaderPool;
let engine: SmallEngine;
let systems: Systems;
let automation: Automation | undefined;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rds-automation-'));
  registry = new SqliteRegistry(join(directory, 'registry.sqlite'));
  pool = new ReaderPool(10_000, assert.fail);
  engine = new SmallEngine(directory, pool);
  systems = new Systems(registry, engine, 60_000, (error) => assert.fail(String(error)));
  for (const appId of ['one', 'two', 'three']) await registry.addSystem(entryOf(appId), [], async () => undefined);
});
afterEach(async () => {
  await automation?.close();
  automation = undefined;
  await systems.close();
  await registry.close();
  await pool.close();
  rmSync(directory, { recursive: true });
});

function begin(options: WorldOptions): Automation {
  const { functions, mailer, log, hooks, conditions, ...instead } = servicesOf(options);
  automation = new Automation({ functions, mailer, log, hooks, conditions, systems }, instead as never);
  return automation;
}

const inSystem = <T>(appId: string, work: (store: Store) => Promise<T>) => systems.visit(appId, ({ store }) => work(store));

async function until(what: () => Promise<boolean> | boolean, atMost = 5_000): Promise<void> {
  for (const end = Date.now() + atMost; !(await what()); ) {
    assert.ok(Date.now() < end, 'it did not come about');
    await wait(10);
  }
}

const triggers = [trigger('t', [makes('a')])];

test('after a start a system at rest is not opened', async () => {
  engine.resting.add('one').add('three');
  const asked: string[] = [];
  const runDue = async ({ appId }: { appId: string }) => {
    asked.push(appId);
    return null;
  };
  begin({ triggers, runDue }).start();
  await until(() => engine.log.includes('close two'));
  assert.deepEqual([asked, engine.log], [['two'], ['open two', 'close two']]);
});

test('what a process leaves that ends within the first two seconds after a start is found', async () => {
  engine.resting.add('one').add('two').add('three');
  let others = ['other'];
  let asked = 0;
  engine.cluster = {
    ...embeddedCluster,
    async processes() {
      asked++;
      return new Set(others);
    },
  };
  try {
    begin({ triggers }).start();
    await until(() => asked === 1, 1_000);
    others = [];
    engine.resting.delete('two');
    await until(() => engine.log.includes('open two'));
  } finally {
    engine.cluster = embeddedCluster;
  }
});

test('after a start all other systems are looked through; those with nothing to do are closed again', async () => {
  await inSystem('two', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'x' }]));
  engine.log.length = 0;
  const asked: string[] = [];
  const runDue = async ({ appId }: { appId: string }) => {
    asked.push(appId);
    return null;
  };
  begin({ triggers, runDue }).start();
  await until(() => asked.length === 3 && engine.log.includes('close three') && engine.log.includes('close one'));
  await until(async () => (await inSystem('two', left))?.length === 0);
  assert.deepEqual(await inSystem('two', logged), ['t - x ok', 't a x ok']);
  assert.deepEqual(asked.toSorted(), ['one', 'three', 'two']);
});

test('jobs of a process that is gone are taken over, before later ones of their records', async () => {
  const owner = 'gone';
  await inSystem('one', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'x', source: '1', owner }]));
  const order: string[] = [];
  const perform = async (run: ActionRun) => {
    order.push(`${run.record.objectId}${run.cause.source}`);
    await finish(run);
  };
  begin({ triggers, perform }).start();
  const system = await systems.acquire('one');
  assert.ok(system);
  await queueRows(system.store, [
    { triggers: 't', objectIdValue: 'x', source: '2' },
    { triggers: 't', objectIdValue: 'y', source: '3' },
  ]);
  automation?.queued({ appId: 'one', store: system.store } as never);
  await until(() => order.length === 3);
  assert.deepEqual(order, ['y3', 'x1', 'x2']);
  await until(async () => (await left(system.store)).length === 0);
  system.release();
});

test('a write wakes its system; what comes while it is at work is seen, too', async () => {
  const running = begin({ triggers });
  const system = await systems.acquire('one');
  assert.ok(system);
  for (let n = 0; n < 20; n++) {
    await queueRows(system.store, [{ triggers: 't', objectIdValue: `r${n}` }]);
    running.queued({ appId: 'one', store: system.store } as never);
    if (n % 7 === 0) await wait(10);
  }
  await until(async () => (await logged(system.store)).length === 40);
  assert.deepEqual(await left(system.store), []);
  running.queued({ appId: 'nobody', store: system.store } as never);
  system.release();
});

test('what a write left that nobody knows the end of is looked for', async () => {
  const running = begin({ triggers });
  const system = await systems.acquire('one');
  assert.ok(system);
  for (let n = 0; n < 3; n++) running.outcomeUnknown({ appId: 'one', store: system.store } as never, false);
  // The commit takes effect late.
  await queueRows(system.store, [{ triggers: 't', objectIdValue: 'x' }]);
  await until(async () => (await logged(system.store)).length === 2);
  system.release();
});

test('rows of an open system that nobody told of are found', async () => {
  const running = begin({ triggers });
  const system = await systems.acquire('one');
  assert.ok(system);
  running.start();
  await wait(200);
  await queueRows(system.store, [{ triggers: 't', objectIdValue: 'x' }]);
  await until(async () => (await left(system.store)).length === 0, 10_000);
  assert.equal((await logged(system.store)).length, 2);
  system.release();
});

test('what hangs in one system holds no other up: after the start, where something is to be done, where nobody told', async () => {
  let isAway = true;
  const gone: (() => void)[] = [];
  const runDue = async ({ appId }: { appId: string }) => {
    if (appId === 'one' && isAway) await new Promise<void>((resolve) => gone.push(resolve));
    return null;
  };
  await inSystem('three', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'swept' }]));
  const running = begin({ triggers, runDue });
  running.start();
  const isDone = async () => (await inSystem('three', left))?.length === 0;
  await until(isDone, 10_000);
  for (let n = 0; n < 20; n++) {
    running.triggersChanged({ appId: 'one' } as never);
    await wait(2);
  }
  assert.ok(gone.length > 0);
  await inSystem('three', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'told' }]));
  running.queued({ appId: 'three', store: {} } as never);
  await until(isDone);
  const open = await systems.acquire('three');
  await inSystem('three', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'untold' }]));
  await until(isDone, 10_000);
  open?.release();
  isAway = false;
  for (const end of gone) end();
});

test('schedules are asked when they are due, and when a definition was written', async () => {
  let asked = 0;
  const times = [150, 150, null];
  const runDue = async ({ store }: { store: Store }, now: number) => {
    const next = times[asked++];
    if (asked === 2) await queueRows(store, [{ kind: 'schedule', event: 'schedule', triggers: 't', objectIdValue: 't' }]);
    return next ? now + next : null;
  };
  const expanded: string[] = [];
  const expand: WorldOptions['expand'] = async ({ store }, { id }) => {
    expanded.push(id);
    await store.write({
      plan: (schema) => {
        const table = schema.tables.get('_TriggerQueue');
        return { changes: [], mutations: table ? [{ kind: 'deleteAll', table, filter: { kind: 'always' } }] : [] };
      },
    });
  };
  const running = begin({ runDue, expand });
  running.triggersChanged({ appId: 'one' } as never);
  await until(() => asked === 3);
  await until(() => expanded.length === 1);
  await wait(300);
  assert.equal(asked, 3);
  running.triggersChanged({ appId: 'one' } as never);
  running.triggersChanged({ appId: 'one' } as never);
  await until(() => asked === 4);
  await wait(50);
  assert.equal(asked, 4);
});

test('a clock that is set back is noticed, and all schedules are asked again by it', async (t) => {
  const asked: (readonly [now: number, skew: number | undefined])[] = [];
  const runDue: WorldOptions['runDue'] = async (_, now, skew) => {
    asked.push([now, skew]);
    return now + 3_600_000;
  };
  const running = begin({ runDue });
  running.start();
  await until(() => asked.length === 3);
  assert.ok(asked.every(([, skew]) => skew === 60_000));
  asked.length = 0;
  const now = Date.now;
  t.mock.method(Date, 'now', () => now() - 7_200_000);
  await until(() => asked.length === 3, 2_500);
  assert.deepEqual(asked.map(([at, skew]) => [at < now() - 7_000_000, skew]), asked.map(() => [true, 0])); // biome-ignore format: one comparison
});

test('a system that cannot be opened is tried again, and its jobs and schedules come when it can', async () => {
  await inSystem('two', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'x' }]));
  const open = engine.open.bind(engine);
  let isAway = true;
  let tried = 0;
  engine.open = async (known) => {
    if (known.appId !== 'two' || !isAway) return open(known);
    tried++;
    throw serviceError('unavailable');
  };
  const asked: string[] = [];
  const runDue = async ({ appId }: { appId: string }) => {
    asked.push(appId);
    return null;
  };
  begin({ triggers, runDue }).start();
  await until(() => asked.includes('three'));
  await wait(2_500);
  assert.ok(tried >= 2 && tried <= 5, String(tried));
  isAway = false;
  await until(() => asked.includes('two'), 2_000);
  await until(async () => (await inSystem('two', left))?.length === 0, 2_000);
});

test('a registry that does not answer at the start is asked again', async () => {
  await inSystem('two', (store) => queueRows(store, [{ triggers: 't', objectIdValue: 'x' }]));
  const { appIds } = systems;
  let asked = 0;
  systems.appIds = () => (++asked < 3 ? Promise.reject(serviceError('unavailable')) : appIds.call(systems));
  begin({ triggers }).start();
  await until(async () => (await inSystem('two', left))?.length === 0);
});

test('schedules and jobs of a system whose store was away come at once when it is back; others do not wait for it', async () => {
  let isAway = true;
  const away = Promise.withResolvers<void>();
  const runDue = async ({ appId, store }: { appId: string; store: Store }) => {
    asked.push(appId);
    if (appId === 'one' && isAway) {
      store.whenBack = () => (isAway ? away.promise : Promise.resolve());
      throw serviceError('unavailable');
    }
    return null;
  };
  const asked: string[] = [];
  const running = begin({ triggers, runDue });
  for (const appId of ['one', 'two', 'three']) running.triggersChanged({ appId } as never);
  await until(() => asked.length === 3);
  await wait(1_000);
  assert.equal(asked.length, 3);
  isAway = false;
  away.resolve();
  await until(() => asked.length === 4, 1_000);
  assert.equal(asked[3], 'one');
});

test('jobs that wait for their time are done although their system was closed', async () => {
  let done = 0;
  const mail = async () => {
    done++;
    return { kind: 'done' } as const;
  };
  const at = Date.now() + 300;
  await inSystem('two', (store) => queueRows(store, [{ kind: 'mail', triggers: 't', objectIdValue: 'x', dueAt: at }]));
  begin({ later: { mail } }).start();
  await until(() => done === 1);
  assert.ok(Date.now() >= at);
  await until(async () => (await inSystem('two', left))?.length === 0);
});

test('closing waits for what is under way, and leaves the rest', async () => {
  await inSystem('one', (store) =>
    queueRows(
      store,
      Array.from({ length: 20 }, () => ({ triggers: 't', objectIdValue: 'x' })),
    ),
  );
  let [begun, ended] = [0, 0];
  const perform = async (run: ActionRun) => {
    begun++;
    await wait(50);
    await finish(run);
    ended++;
  };
  const running = begin({ triggers, perform });
  running.start();
  await until(() => begun === 2);
  await running.close();
  assert.deepEqual([begun, ended], [2, 2]);
  assert.equal((await inSystem('one', left))?.length, 18);
});
