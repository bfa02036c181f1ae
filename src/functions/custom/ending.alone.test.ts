import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import type { SystemRecords } from './system.ts';
import { heardLog } from './testing/heard-log.ts';
import { operatedSystem } from './testing/operated-system.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-operator-'));
const { log } = heardLog();
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const { store, functionsWithin, run } = await operatedSystem(engine, directory, log, (error) => assert.fail(String(error)));
const hasty = functionsWithin(200);

after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

const failed = (message: string | RegExp) => ({ key: 'functionFailed', status: 400, code: undefined, message });

test('when the service ends a function is given up, and no other begins', async () => {
  const functions = functionsWithin(60_000);
  const shared = globalThis as { rdsEnded?: boolean };
  const over = { key: 'unavailable', status: 503 };
  const hanging = run(
    `await new Promise((done) => signal.addEventListener('abort', done)); globalThis.rdsEnded = true;
     await system.create('Tags', { Name: 'too late' });`,
    {},
    functions,
  );
  const written = run(`await system.create('Tags', { Name: 'before' }); await new Promise(() => {})`, {}, functions);
  const outcome = assert.rejects(written, { key: 'outcomeUnknown', status: 503 });
  while ((await run(`return system.count('Tags', { Name: 'before' })`)) === 0) await wait(5);
  functions.abort();
  await assert.rejects(hanging, over);
  await outcome;
  await wait(20);
  assert.equal(shared.rdsEnded, true);
  assert.equal(await run(`return system.count('Tags', { Name: 'too late' })`), 0);
  await assert.rejects(run('return 1', {}, functions), over);
});

test('after its time a function is given up: its signal is aborted, and its records refuse', async () => {
  const timeUp = { key: 'functionTimeout', status: 503 };
  const shared = globalThis as { rdsAborted?: boolean; rdsRefused?: string };
  await assert.rejects(
    run(
      `
      signal.addEventListener('abort', () => { globalThis.rdsAborted = true; });
      await new Promise((done) => setTimeout(done, 250));
      await system.create('Tags', { Name: 'late' }).catch(({ message }) => { globalThis.rdsRefused = message; throw new Error('late'); });
    `,
      {},
      hasty,
    ),
    timeUp,
  );
  assert.equal(shared.rdsAborted, true);
  await wait(150);
  assert.equal(shared.rdsRefused, 'The function took too long and was given up.');
  assert.equal(await run(`return system.count('Tags', { Name: 'late' })`), 0);
  await assert.rejects(run('await new Promise(() => {})', {}, hasty), timeUp);
  await assert.rejects(
    run(
      'await fetch("data:,x"); await new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason)))',
      {},
      hasty,
    ),
    timeUp,
  );
});

test('after its end a function’s records refuse', async () => {
  await run('globalThis.rdsKept = system');
  const { rdsKept } = globalThis as unknown as { rdsKept: SystemRecords };
  await assert.rejects(rdsKept.find('Tags'), failed('The function has ended: it has to wait for what it starts.'));
});
