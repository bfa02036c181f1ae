import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { InstalledFunctions } from '../installed.ts';
import { directoryWith } from '../loading/testing/function-files.ts';
import { heardLog } from '../loading/testing/heard-log.ts';
import type { CallEnd } from '../thread/protocol.ts';
import type { LostCall, OutdatedCall, RunOnThread } from './thread-call.ts';

const directory = directoryWith({
  'fine.mjs': 'export default ({ input }) => input.n;',
  'loops.mjs': 'export default () => { for (;;); };',
  'leaves.mjs': 'export default () => { setTimeout(() => { for (;;); }, 1); return 1; };',
  'exits.mjs': `
    import { existsSync } from 'node:fs';
    export default ({ input }) => new Promise(() => {
      if (input.n === 0) setInterval(() => existsSync(new URL('./go', import.meta.url)) && process.exit(), 5);
    });`,
});
const { log } = heardLog();
const functions = new InstalledFunctions({
  directory,
  timeLimit: 20_000,
  memoryMb: 256,
  env: {},
  log,
  isReserved: () => false,
});
// Threads keep no process alive.
const alive = setInterval(() => {}, 1_000);
after(async () => {
  clearInterval(alive);
  await functions.close();
});

/** A call that was passed to the threads. */
interface Started {
  readonly passed: Promise<RunOnThread>;
  readonly ended: Promise<CallEnd | LostCall | OutdatedCall>;
}

async function start(name: string, system: unknown = 'system', input: object = {}): Promise<Started> {
  const found = await functions.find(name, 'app');
  if (!found) throw new Error(`${name} is not found`);
  const passed = Promise.withResolvers<RunOnThread>();
  const ended = Promise.withResolvers<CallEnd | LostCall | OutdatedCall>();
  functions.threads.run({
    system,
    function: found,
    given: JSON.stringify({ appId: 'app', systemName: 'One', input, isForm: false, request: null, record: null, trigger: null }),
    isGivenUp: () => false,
    passed: passed.resolve,
    operation: async () => assert.fail(),
    ended: ended.resolve,
  });
  return { passed: passed.promise, ended: ended.promise };
}

const fine = async (system: unknown, n: number) => (await start('fine', system, { n })).ended;
const result = (text: string) => ({ kind: 'result', text });

test('loops of one system leave threads to others; a call that waits behind them runs when one is ended', async () => {
  const loops = await Promise.all(Array.from({ length: 4 }, () => start('loops', 'looping')));
  await Promise.race(loops.map(({ passed }) => passed));
  for (let n = 0; n < 5; n++) assert.deepEqual(await fine('other', n), result(String(n)));
  const behind = fine('looping', 7);
  assert.deepEqual(await fine('third', 8), result('8'));
  for (const { passed } of loops) void passed.then((run) => run.giveUp('functionTimeout'));
  assert.deepEqual(await behind, result('7'));
});

test('a thread that ends answers each of its calls: the one that is the cause, and those that are not', async () => {
  const calls: Started[] = [];
  for (let n = 0; n < 12; n++) {
    const call = await start('exits', 'shared', { n });
    await call.passed;
    calls.push(call);
  }
  writeFileSync(join(directory, 'go'), '');
  assert.deepEqual(await calls[0]?.ended, { kind: 'lost', message: 'The function ended its thread.' });
  assert.deepEqual(await Promise.race(calls.slice(1).map(({ ended }) => ended)), { kind: 'lost', message: null });
  for (const { passed } of calls) (await passed).giveUp('functionTimeout');
});

test('a call that leftovers of another one keep from beginning is passed to another thread', async () => {
  // They occupy a thread; all of these calls are passed to the first one that is idle.
  for (let n = 0; n < 3; n++) {
    assert.deepEqual(await (await start('leaves', 'leaving')).ended, result('1'));
    await new Promise((done) => setTimeout(done, 20));
    assert.deepEqual(await fine('leaving', n), result(String(n)));
  }
});
