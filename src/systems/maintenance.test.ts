import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { serviceError } from '../errors/fail.ts';
import { type Job, Maintenance } from './maintenance.ts';
import type { System } from './system.ts';

let clock: number;
let log: string[];
let claimed: readonly string[];
beforeEach(() => {
  [clock, log, claimed] = [0, [], ['one', 'two']];
  mock.timers.enable({ apis: ['setInterval'] });
  mock.method(performance, 'now', () => clock);
});
afterEach(() => {
  mock.reset();
  mock.timers.reset();
});

const system = {
  store: { cluster: { takeLease: async (_: string, name: string) => claimed.includes(name) } },
  hold: () => log.push('hold'),
  release: () => log.push('release'),
} as unknown as System;
const job = (name: string): Job => ({
  name,
  async run(of) {
    assert.equal(of, system);
    log.push(name);
  },
});
const pass = async (minutes: number, each: (minute: number) => void = () => {}) => {
  for (let minute = 1; minute <= minutes; minute++) {
    clock += 60_000;
    mock.timers.tick(60_000);
    for (let n = 0; n < 10; n++) await turn();
    each(minute);
  }
};

test('a system is looked at soon after it was opened, then every hour, and is held meanwhile', async () => {
  const upkeep = new Maintenance(() => [system], [job('one'), job('two')], assert.fail);
  const looks: number[] = [];
  await pass(130, (minute) => {
    if (log.length > 0) looks.push(minute);
    if (log.length > 0) assert.deepEqual(log.splice(0), ['hold', 'one', 'two', 'release']);
  });
  await upkeep.close();
  await pass(60);
  assert.deepEqual([looks, log], [[2, 62, 122], []]);
});

test('a system that nobody uses is visited for what it needs, and what this process has claimed', async () => {
  claimed = ['one', 'three'];
  const upkeep = new Maintenance(() => [], [job('one'), job('two'), { ...job('three'), isOfUse: true }], assert.fail);
  await upkeep.visit(system);
  await upkeep.close();
  assert.deepEqual(log, ['one']);
});

test('a job that another process has is left to it', async () => {
  claimed = ['two'];
  const upkeep = new Maintenance(() => [system], [job('one'), job('two')], assert.fail);
  await pass(3);
  await upkeep.close();
  assert.deepEqual(log, ['hold', 'two', 'release']);
});

test('a job that fails is reported, and the next one runs', async () => {
  const failing = { name: 'one', run: () => Promise.reject(new Error('no disk')) };
  const report = (error: unknown, name: string) => log.push(`${name}: ${error}`);
  const upkeep = new Maintenance(() => [system], [failing, job('two')], report);
  await pass(3);
  await upkeep.close();
  assert.deepEqual(log, ['hold', 'one: Error: no disk', 'two', 'release']);
});

test('the end waits for the step that is under way, and no other begins', async () => {
  const long: Job = {
    name: 'one',
    async run(_, shouldStop) {
      while (!shouldStop()) await turn();
      log.push('ended');
    },
  };
  const upkeep = new Maintenance(() => [system, system], [long, job('two')], assert.fail);
  await pass(3);
  await upkeep.close();
  assert.deepEqual(log, ['hold', 'ended', 'release']);
});

test('what the store was away for is tried again each minute, by who has claimed it, and is nothing to be reported', async () => {
  let away = 3;
  const failing: Job = {
    name: 'one',
    async run() {
      log.push('try');
      if (away-- > 0) throw serviceError('unavailable');
    },
  };
  const upkeep = new Maintenance(() => [system], [failing, job('two')], assert.fail);
  await pass(2);
  claimed = [];
  await pass(50);
  await upkeep.close();
  assert.deepEqual(
    log.filter((what) => what !== 'hold' && what !== 'release'),
    ['try', 'two', 'try', 'try', 'try'],
  );
});

test('who does not hear whether a job falls to them does it when they can', async () => {
  let away = 2;
  const takeLease = async (_: string, name: string) => {
    if (away-- > 0) throw serviceError('unavailable');
    return claimed.includes(name);
  };
  const unheard = { ...system, store: { cluster: { takeLease } } } as unknown as System;
  const one: Job = { name: 'one', run: async () => void log.push('one') };
  const upkeep = new Maintenance(() => [unheard], [one], assert.fail);
  await pass(4);
  await upkeep.close();
  assert.ok(log.includes('one'));
});
