import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** Runs code in a separate process, because its unhandled errors would affect the test runner. */
function process(body: string): { status: number | null; stdout: string; stderr: string } {
  const address = JSON.stringify(import.meta.resolve('./unhandled-errors.ts'));
  const log = `const log = { error: ({ err, ...who }, text) => console.log(JSON.stringify([who, err.message, text])) };`;
  const fault = 'const fault = (error) => { console.log("fault: " + error.message); process.exit(1); };';
  const code = `import * as leftovers from ${address}; ${log} ${fault} leftovers.catchUnhandledErrors(log, fault); leftovers.catchUnhandledErrors(log, fault); ${body}`;
  return spawnSync(globalThis.process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8', timeout: 20_000 });
}

const who = '{ system: "app", function: "one" }';
const told = (message: string) =>
  JSON.stringify([{ system: 'app', function: 'one' }, message, 'a function left something behind that failed']);

test('what a function leaves behind is logged as its own, and ends nothing', () => {
  const { status, stdout } = process(`
    leftovers.asFunction(${who}, () => {
      Promise.reject(new Error('a promise'));
      leftovers.asService(async () => { await 1; return 1; }).then(() => { throw new Error('after a call'); });
      setTimeout(() => { throw new Error('a timer'); }, 1);
      setTimeout(async () => { throw 'a text'; }, 20);
    });
    setTimeout(() => console.log('still there'), 60);
  `);
  assert.equal(status, 0);
  assert.deepEqual(stdout.trim().split('\n'), [
    told('a promise'),
    told('after a call'),
    told('a timer'),
    told('a function threw what is no Error: a text'),
    'still there',
  ]);
});

test('what is the service’s own is given on', () => {
  for (const fault of [
    `Promise.reject(new Error('own fault'))`,
    `setTimeout(() => { throw new Error('own fault') })`,
    `leftovers.asFunction(${who}, () => leftovers.asService(() => setTimeout(() => { throw new Error('own fault') })))`,
  ]) {
    const { status, stdout } = process(`${fault}; setTimeout(() => console.log('still there'), 60);`);
    assert.equal(status, 1, fault);
    assert.equal(stdout, 'fault: own fault\n', fault);
  }
});
