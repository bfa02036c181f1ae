import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { fail } from '../errors/fail.ts';
import { requestCame } from '../kernel/request-turn.ts';
import { emptySchema } from '../schema/change.ts';
import type { Engine, OpenedStore } from '../storage/engine.ts';
import { type KnownStore, StoreRefused } from '../storage/identity.ts';
import { noOutcome, type Store } from '../storage/port.ts';
import { embeddedCluster } from '../storage/sqlite/cluster/cluster.ts';
import { SqliteRegistry } from '../storage/sqlite/registry.ts';
import { entryOf } from '../storage/testing/entry.ts';
import { newestVersion } from './migrations/index.ts';
import { hashKey, hashPrefix } from './system.ts';
import { Systems } from './systems.ts';

/** An engine whose stores are names only. */
class FakeEngine implements Pick<Engine, 'open' | 'atRest' | 'cluster'> {
  readonly cluster = embeddedCluster;
  readonly log: string[] = [];
  failing: Error | null = null;
  /** Whether its stores have no content. */
  isCurrent = true;
  /** How often it was called. */
  asked = 0;
  /** Places of stores that may stay closed. */
  readonly resting = new Set<string>();
  async atRest(stores: readonly KnownStore[]): Promise<ReadonlySet<string>> {
    return new Set(stores.filter(({ place }) => this.resting.has(place)).map(({ systemId }) => systemId));
  }
  async open({ appId, systemId, place }: KnownStore): Promise<OpenedStore> {
    this.asked++;
    await wait(5);
    if (this.failing) throw this.failing;
    this.log.push(`open ${appId}`);
    const store = {
      place,
      schema: () => ({ ...emptySchema, templateVersion: newestVersion }),
      whenCurrent: async () => {},
      write: async () => noOutcome,
      isCurrent: () => this.isCurrent,
      close: async () => void this.log.push(`close ${appId}`),
    } as unknown as Store;
    return { store, identity: { systemId, appId, birth: 'b', generation: 1, making: null }, missingSince: null };
  }
}

let directory: string;
let registry: SqliteRegistry;
/** What another process would have open. */
let other: SqliteRegistry;
let engine: FakeEngine;
let systems: Systems;
let told: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rds-systems-'));
  registry = new SqliteRegistry(join(directory, 'registry.sqlite'));
  other = new SqliteRegistry(join(directory, 'registry.sqlite'));
  engine = new FakeEngine();
  told = [];
  systems = new Systems(registry, engine, 20, (error) => assert.fail(String(error)), undefined, {
    conditions: {
      met: (what, about) => void told.push(`met ${what} ${JSON.stringify(about)}`),
      over: (about) => void told.push(`over ${JSON.stringify(about)}`),
    },
    missing: () => assert.fail('nothing is missing'),
  });
});
afterEach(async () => {
  await systems.close();
  other.close();
  await registry.close();
  rmSync(directory, { recursive: true });
});

const hash = (kind: 'master' | 'apiKey', key: string, appId = 'app') => hashKey(hashPrefix(registry.salt, appId, kind), key);
const entry = (appId = 'app', id = appId) => entryOf(appId, { id, masterKeyHash: hash('master', 'mmmm', appId) });
const key = (name: string, value: string) => ({ appId: 'app', name, hash: hash('apiKey', value), createdAt: 1 });
const add = (system = entry()) => other.addSystem(system, [], async () => undefined);

test('there is no system until it is added, and it is opened once', async () => {
  assert.equal(await systems.acquire('app'), undefined);
  await add();
  const [one, two] = await Promise.all([systems.acquire('app'), systems.acquire('app')]);
  assert.ok(one && one === two && one === (await systems.acquire('app')));
  assert.deepEqual(engine.log, ['open app']);
  for (let n = 0; n < 3; n++) one.release();
});
test('a system is acquired at once where it is open and current', async ({ mock }) => {
  await add();
  assert.equal(systems.tryAcquire('app'), undefined);
  const system = await systems.acquire('app');
  assert.ok(system && systems.tryAcquire('app') === system);
  assert.equal(systems.tryAcquire('other'), undefined);
  engine.isCurrent = false;
  assert.equal(systems.tryAcquire('app'), undefined);
  engine.isCurrent = true;
  const registryIsCurrent = mock.method(registry, 'isCurrent', () => false);
  assert.equal(systems.tryAcquire('app'), undefined);
  registryIsCurrent.mock.restore();
  system.release();
  assert.equal(system.isFree, false);
  system.release();
  assert.equal(system.isFree, true);
  await other.removeSystem('app', 0);
  assert.equal(systems.tryAcquire('app'), undefined);
});
test('the systems that are open are reported as of each step', async () => {
  await add();
  await add(entry('b'));
  assert.deepEqual([...systems.opened()], []);
  const opened = [await systems.acquire('app'), await systems.acquire('b')];
  assert.deepEqual([...systems.opened()], opened);
  const steps = systems.opened();
  assert.equal(steps.next().value, opened[0]);
  await other.removeSystem('b', 0);
  await systems.acquire('app');
  assert.equal(steps.next().done, true);
  opened[0]?.release();
  for (const system of opened) system?.release();
});
test('names of another case or of the prototype chain are no systems', async () => {
  await add();
  for (const appId of ['APP', '__proto__', 'constructor', '']) assert.equal(await systems.acquire(appId), undefined);
});
test('keys of another process count at once, and under their own name only', async () => {
  await add();
  const system = await systems.acquire('app');
  assert.ok(system);
  const kind = async (credentials: object) => {
    await systems.acquire('app');
    system.release();
    return system.registration.principalFor({ masterKey: undefined, apiKey: undefined, sessionToken: undefined, ...credentials })
      ?.kind;
  };
  assert.equal(await kind({ apiKey: 'aaaa' }), 'invalid');
  await other.addKey(key('a', 'aaaa'));
  assert.equal(await kind({ apiKey: 'aaaa' }), 'apiKey');
  assert.equal(await kind({ masterKey: 'aaaa' }), 'invalid');
  assert.equal(await kind({ masterKey: 'mmmm', apiKey: 'wrong' }), 'master');
  assert.equal(await kind({ apiKey: 'mmmm' }), 'invalid');
  assert.equal(await kind({ masterKey: ['mmmm'] }), 'invalid');
  assert.equal(await kind({ masterKey: '' }), 'anonymous');
  assert.equal(await kind({ sessionToken: 'r:x' }), undefined);
  await other.removeKey('app', 'a');
  assert.equal(await kind({ apiKey: 'aaaa' }), 'invalid');
  system.release();
});
test('requests of one turn share a look at the registry; one that comes later knows of a change before it', async () => {
  await add();
  (await systems.acquire('app'))?.release();
  const known = () => systems.isKnown('b');
  requestCame();
  assert.equal(known(), false);
  await other.addSystem(entry('b'), [], async () => undefined);
  requestCame();
  assert.equal(known(), false);
  await setImmediate();
  assert.equal(known(), true);
  await other.removeSystem('b', 0);
  // Looked up again: no request of this turn, or the first of it.
  assert.equal(known(), false);
  await other.addSystem(entry('c'), [], async () => undefined);
  requestCame();
  assert.equal(systems.isKnown('c'), true);
});
test('an idle system is closed, one that is held is not', async () => {
  await add();
  const system = await systems.acquire('app');
  await wait(100);
  assert.deepEqual(engine.log, ['open app']);
  system?.release();
  await wait(100);
  assert.deepEqual(engine.log, ['open app', 'close app']);
  (await systems.acquire('app'))?.release();
  assert.deepEqual(engine.log, ['open app', 'close app', 'open app']);
});
test('a removed system is gone at once and closed when nobody holds it', async () => {
  await add();
  const system = await systems.acquire('app');
  await other.removeSystem('app', 0);
  assert.equal(await systems.acquire('app'), undefined);
  await wait(10);
  assert.deepEqual(engine.log, ['open app']);
  system?.release();
  await wait(10);
  assert.deepEqual(engine.log, ['open app', 'close app']);
});
test('a removed system is refused by who enters it, and is another object once it is restored', async () => {
  await add();
  const first = await systems.acquire('app');
  await other.removeSystem('app', 1_000);
  await assert.rejects(systems.enter('app'), { key: 'unauthorized' });
  assert.equal(await systems.enter('never'), undefined);
  assert.deepEqual([first?.isClosing, await systems.appIds()], [true, []]);
  first?.release();
  assert.equal(await other.restoreSystem('app', 999), true);
  const second = await systems.enter('app');
  assert.ok(second && second !== first && !second.isClosing);
  second.release();
});
test('a system that was removed and added anew is another one, opened after the first is closed', async () => {
  await add();
  const first = await systems.acquire('app');
  await other.removeSystem('app', 0);
  assert.equal(await add(entry('app', 'second')), false);
  assert.equal(await other.deleteSystem('app', 1, async () => undefined), true);
  await add(entry('app', 'second'));
  const opening = systems.acquire('app');
  await wait(10);
  first?.release();
  const second = await opening;
  assert.ok(second && second !== first);
  assert.deepEqual(engine.log, ['open app', 'close app', 'open app']);
  second.release();
});
test('a system that could not be opened is tried again', async () => {
  await add();
  engine.failing = new Error('no disk');
  await assert.rejects(systems.acquire('app'), /no disk/);
  engine.failing = null;
  (await systems.acquire('app'))?.release();
});
test('a store that is refused is unavailable, is looked at again after a second, and told of by condition', async () => {
  await add();
  engine.failing = new StoreRefused('missing', '/data/app');
  for (let n = 0; n < 5; n++) await assert.rejects(systems.acquire('app'), { key: 'unavailable' });
  assert.equal(engine.asked, 1);
  assert.deepEqual(told, ['met the store is missing {"app":"app","store":"/data/app"}']);
  engine.failing = null;
  await assert.rejects(systems.acquire('app'), { key: 'unavailable' });
  // A timer may fire slightly early.
  await wait(1_050);
  (await systems.acquire('app'))?.release();
  assert.equal(told.at(-1), 'over {"app":"app","store":"/data/app"}');
});
test('a store that is refused is forgotten with its system, and no other one is held for it', async () => {
  await add();
  engine.failing = new StoreRefused('older', '/data/app');
  await assert.rejects(systems.acquire('app'), { key: 'unavailable' });
  assert.equal(await other.forgetSystem('app'), true);
  assert.equal(await systems.acquire('app'), undefined);
  engine.failing = null;
  await add(entry('app', 'second'));
  (await systems.acquire('app'))?.release();
});
test('what an opened store says of itself is known to the registry', async () => {
  await add();
  (await systems.acquire('app'))?.release();
  assert.deepEqual(
    { ...(await registry.storeOf('app')) },
    {
      systemId: 'app',
      appId: 'app',
      place: 'app',
      birth: 'b',
      generation: 1,
      missingSince: null,
      noticedAt: null,
      damagedAt: null,
    },
  );
});
test('application ids differ by more than the case of letters; an addition that fails leaves nothing', async () => {
  assert.equal(await add(), true);
  assert.equal(await add(entry('APP', 'x')), false);
  await assert.rejects(
    other.addSystem(entry('b'), [], () => Promise.reject(new Error('full'))),
    /full/,
  );
  assert.deepEqual(
    registry.read().systems.map(({ appId }) => appId),
    ['app'],
  );
  assert.equal(await other.addKey({ ...key('a', 'aaaa'), appId: 'b' }), false);
});
test('an addition is seen when it is complete, by this process too', async () => {
  const adding = registry.addSystem(entry(), [], () => wait(20));
  await wait(5);
  assert.equal(await systems.acquire('app'), undefined);
  await adding;
  (await systems.acquire('app'))?.release();
});
test('a system that is visited is closed again where it was not open, and nobody has used it', async () => {
  await add();
  await add(entry('b'));
  assert.deepEqual((await systems.appIds()).toSorted(), ['app', 'b']);
  assert.equal(await systems.visit('app', async ({ appId }) => appId), 'app');
  assert.equal(await systems.visit('nobody', async () => 1), undefined);
  assert.deepEqual(engine.log, ['open app', 'close app']);
  const held = await systems.acquire('b');
  await systems.visit('b', async () => undefined);
  await assert.rejects(
    systems.visit('app', async () => {
      throw new Error('no');
    }),
    /no/,
  );
  await systems.visit('app', async () => void (await systems.acquire('app')));
  assert.deepEqual(engine.log, ['open app', 'close app', 'open b', 'open app', 'close app', 'open app']);
  held?.release();
  for (const system of systems.opened()) if (system.appId === 'app') system.release();
});
test('a system that is visited twice at a time is closed after the last visit', async () => {
  await add();
  const first = Promise.withResolvers<void>();
  const visits = [systems.visit('app', () => first.promise), systems.visit('app', async () => undefined)];
  await visits[1];
  assert.deepEqual(engine.log, ['open app']);
  first.resolve();
  await Promise.all(visits);
  assert.deepEqual(engine.log, ['open app', 'close app']);
});
test('systems at rest stay closed; the others, and those that are open, are found', async () => {
  for (const appId of ['app', 'b', 'c', 'd', 'e', 'f']) await add(entry(appId));
  // A removed system that had the id of one in force is another store.
  const second = { ...entry('b', 'second'), place: 'b~0123456789' };
  await other.addSystem(second, [], async () => undefined, { replace: { deleteAfter: 9, now: 1 } });
  for (const place of ['app', 'b', 'c', 'd', 'e']) engine.resting.add(place);
  (await systems.acquire('d'))?.release();
  assert.deepEqual((await Array.fromAsync(systems.withRows([]))).toSorted(), ['b', 'd', 'f']);
  assert.deepEqual(engine.log, ['open d']);
});
test('a system that a request used while it was visited stays open', async () => {
  await add();
  await systems.visit('app', async () => (await systems.acquire('app'))?.release());
  assert.deepEqual(engine.log, ['open app']);
});
test('one that comes in exchange is opened at once, and who works with the other finishes on its store', async () => {
  await add();
  const before = await systems.acquire('app');
  const second = { ...entry('app', 'second'), place: 'app~0123456789', heldAt: 5 };
  await other.addSystem(second, [], async () => undefined, { replace: { deleteAfter: 9, now: 1 } });
  const now = await systems.acquire('app');
  assert.deepEqual([before?.store.place, before?.isClosing, now?.store.place], ['app', true, 'app~0123456789']);
  assert.deepEqual([now?.isHeld, [...systems.active]], [true, []]);
  assert.deepEqual(engine.log, ['open app', 'open app']);
  await other.holdSystem('app', null);
  assert.equal(await systems.acquire('app'), now);
  assert.deepEqual([now?.isHeld, [...systems.active]], [false, [['app', 'second']]]);
  before?.release();
  for (let n = 0; n < 2; n++) now?.release();
});

test('systems are counted as they were while the registry cannot be reached, or does not answer', async (t) => {
  await add();
  const system = await systems.acquire('app');
  const known = { open: ['app'], active: 1, held: 0, removed: 0 };
  assert.deepEqual(await systems.counts(), known);
  const current = t.mock.method(registry, 'whenCurrent', async () => fail('unavailable'));
  assert.deepEqual(await systems.counts(), known);
  current.mock.mockImplementation(() => new Promise<never>(() => {}));
  assert.deepEqual(await systems.counts(), known);
  current.mock.restore();
  system?.release();
});
