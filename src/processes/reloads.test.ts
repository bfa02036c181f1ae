import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config, Settings } from '../config/index.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { isHungUp } from './hang-up.ts';
import { Reloads } from './reloads.ts';

const config = { host: '127.0.0.1', port: 80, dataDir: '/data', webConcurrency: 2, metrics: undefined } as unknown as Config;
const settings = (changes: object = {}) =>
  ({ config: { ...config, ...changes }, secrets: { databaseUrl: 'postgres://x' } }) as unknown as Settings;

let said: string[];
let finish: (() => void)[];
let now: () => Settings;
let reloads: Reloads;

beforeEach(() => {
  said = [];
  finish = [];
  now = settings;
  reloads = new Reloads(
    config,
    {
      reloading: () => said.push('reloading'),
      reloaded: ({ processes }) => said.push(`reloaded ${processes}`),
      reloadFailed: (why, processes) => said.push(`failed: ${why}, ${processes}`),
      needsRestart: (names) => said.push(`restart: ${names}`),
    },
    () => now(),
  );
});

const fleet = {
  serving: 2,
  reload: async (processes: number) => {
    await new Promise<void>((resolve) => finish.push(resolve));
    return { processes, finishing: 0, version: '1.0.0' };
  },
};

const done = async () => {
  finish.shift()?.();
  await nextTurn();
};

test('one at a time; one more follows, however often it was requested meanwhile', async () => {
  reloads.begin(fleet);
  reloads.request();
  for (let n = 0; n < 3; n++) reloads.request();
  assert.deepEqual(said, ['reloading']);
  await done();
  assert.deepEqual(said, ['reloading', 'reloaded 2', 'reloading']);
  await done();
  assert.deepEqual(said, ['reloading', 'reloaded 2', 'reloading', 'reloaded 2']);
});

test('one that was requested before all processes served comes when they do', async () => {
  reloads.request();
  assert.deepEqual(said, []);
  reloads.begin(fleet);
  assert.deepEqual(said, ['reloading']);
  await done();
});

test('the number of processes is the one of now; what waits for a restart is named', async () => {
  reloads.begin(fleet);
  now = () => settings({ webConcurrency: 3, port: 81, dataDir: '/other', metrics: { host: '127.0.0.1', port: 9 } });
  reloads.request();
  await done();
  assert.deepEqual(said, ['reloading', 'restart: PORT,DATA_DIR,METRICS_HOST,METRICS_PORT', 'reloaded 3']);
});

test('settings that cannot be used, and processes that cannot serve, are one line; the next request is tried', async () => {
  reloads.begin(fleet);
  now = () => {
    throw new OperatorError('PORT: must be a number');
  };
  reloads.request();
  await nextTurn();
  reloads.request();
  await nextTurn();
  now = () => ({ ...settings(), secrets: {} }) as unknown as Settings;
  reloads.request();
  await nextTurn();
  assert.deepEqual(said.slice(0, 2), ['failed: PORT: must be a number, 2', 'failed: PORT: must be a number, 2']);
  assert.match(said[2] ?? '', /^failed: DATABASE_URL: was taken away.*, 2$/);
  now = settings;
  reloads.request();
  await nextTurn();
  await done();
  assert.deepEqual(said.slice(-2), ['reloading', 'reloaded 2']);
});

test('a terminal hangs up if there was one and none is left', () => {
  assert.equal(
    isHungUp([0, 2], () => false),
    true,
  );
  assert.equal(
    isHungUp([0, 2], (stream) => stream === 2),
    false,
  );
  assert.equal(
    isHungUp([], () => false),
    false,
  );
});
