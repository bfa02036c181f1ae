import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { heardLog } from './loading/testing/heard-log.ts';
import { operatedSystem } from './testing/operated-system.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-operator-'));
const { log } = heardLog();
const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
const { store, functionsWithin, run } = await operatedSystem(engine, directory, log);
const hasty = functionsWithin(200);

after(async () => {
  await store.close();
  await engine.close();
  rmSync(directory, { recursive: true });
});

/** Code by which a function tells the test something: threads share nothing with it. */
const tells = (name: string, text: string) =>
  `(await import('node:fs')).writeFileSync(${JSON.stringify(join(directory, `${name}.told`))}, ${text});`;

/** Returns what a function has told, once it has. */
async function told(name: string): Promise<string> {
  const path = join(directory, `${name}.told`);
  while (!existsSync(path) || readFileSync(path, 'utf8') === '') await wait(5);
  return readFileSync(path, 'utf8');
}

test('when the service ends a function is given up, and no other begins', async () => {
  const functions = functionsWithin(60_000);
  const over = { key: 'unavailable', status: 503 };
  const hanging = run(
    `${tells('begun', '"true"')}
     await new Promise((done) => signal.addEventListener('abort', done)); ${tells('ended', '"true"')}
     await system.create('Tags', { Name: 'too late' });`,
    {},
    functions,
  );
  const written = run(`await system.create('Tags', { Name: 'before' }); await new Promise(() => {})`, {}, functions);
  const outcome = assert.rejects(written, { key: 'outcomeUnknown', status: 503 });
  while ((await run(`return system.count('Tags', { Name: 'before' })`)) === 0) await wait(5);
  await told('begun');
  functions.abort();
  await assert.rejects(hanging, over);
  await outcome;
  assert.equal(await told('ended'), 'true');
  await wait(20);
  assert.equal(await run(`return system.count('Tags', { Name: 'too late' })`), 0);
  await assert.rejects(run('return 1', {}, functions), over);
});

test('after its time a function is given up: its signal is aborted, and its records refuse', async () => {
  const timeUp = { key: 'functionTimeout', status: 503 };
  await assert.rejects(
    run(
      `
      signal.addEventListener('abort', async () => { ${tells('aborted', '"true"')} });
      await new Promise((done) => setTimeout(done, 250));
      await system.create('Tags', { Name: 'late' }).catch(async ({ message }) => { ${tells('refused', 'message')} throw new Error('late'); });
    `,
      {},
      hasty,
    ),
    timeUp,
  );
  assert.equal(await told('aborted'), 'true');
  assert.equal(await told('refused'), 'The function took too long and was given up.');
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
  await run(`setTimeout(() => system.find('Tags').catch(async ({ message }) => { ${tells('kept', 'message')} }), 20);`);
  assert.equal(await told('kept'), 'The function has ended: it has to wait for what it starts.');
});
