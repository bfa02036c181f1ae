import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { FunctionLoader } from '../loading/loader.ts';
import { directoryWith, write } from '../loading/testing/function-files.ts';
import { heardLog } from '../loading/testing/heard-log.ts';
import type { FoundFunction } from './found-function.ts';
import { FunctionThreads } from './function-threads.ts';

// Threads keep no process alive.
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));

/** Threads of a directory, and its loader. */
function threadsOf(files: Record<string, string>) {
  const directory = directoryWith(files);
  const { log, heard } = heardLog();
  const threads = new FunctionThreads({
    directory,
    timeLimit: 300,
    memoryMb: 256,
    env: {},
    log,
    isBehind: (name) => loader.isBehind(name),
    onFiles: (name, of) => loader.noteFiles(name, of),
  });
  const loader = new FunctionLoader<FoundFunction>({
    directory,
    log,
    isReserved: () => false,
    load: (name, file) => threads.load(name, file),
  });
  after(() => threads.close());
  /** Calls a function. @returns the text of its result */
  const call = async (name: string): Promise<string> => {
    const found = await loader.find(name);
    if (!found) throw new Error(`${name} is not found`);
    const ended = Promise.withResolvers<string>();
    threads.run({
      system: 'system',
      function: found,
      given: JSON.stringify({
        appId: 'app',
        systemName: 'One',
        input: {},
        isForm: false,
        request: null,
        record: null,
        trigger: null,
      }),
      isGivenUp: () => false,
      passed: () => {},
      operation: async () => assert.fail(),
      ended: (end) => (end.kind === 'result' ? ended.resolve(end.text) : ended.reject(new Error(JSON.stringify(end)))),
    });
    return ended.promise;
  };
  return { directory, threads, call, heard };
}

test('while a new version loops when it is loaded, and after that, the one before is called', async () => {
  const { directory, call, heard } = threadsOf({
    'edited.mjs': 'export default () => 1;',
    'fine.mjs': 'export default () => "fine";',
  });
  for (const [name, text] of Object.entries({ edited: '1', fine: '"fine"' })) assert.equal(await call(name), text);
  write(directory, { 'edited.mjs': 'for (;;); export default () => 2;' });
  // The call that finds the new version waits for what comes of it; others go on.
  const first = call('edited');
  for (let n = 0; n < 5; n++) assert.equal(await call('fine'), '"fine"');
  assert.equal(heard('error').length, 0);
  assert.equal(await first, '1');
  for (let n = 0; n < 3; n++) assert.equal(await call('edited'), '1');
  assert.equal(heard('error').length, 1);
  assert.match(heard('error')[0]?.msg ?? '', /the version before stays in service/);
  write(directory, { 'edited.mjs': 'export default () => 3;' });
  assert.equal(await call('edited'), '3');
});

test('threads end after a minute without calls, with what functions have left behind; one that alone has a version stays', async (t) => {
  let passedMs = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + passedMs);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const pass = (seconds: number) => {
    passedMs += seconds * 1_000;
    t.mock.timers.tick(seconds * 1_000);
  };
  const { directory, threads, call } = threadsOf({
    'leaves.mjs': `
      import { appendFileSync } from 'node:fs';
      export default () => { setInterval(() => appendFileSync(new URL('./left', import.meta.url), '.'), 2); return 1; };`,
  });
  const left = () => readFileSync(join(directory, 'left')).length;
  assert.equal(await call('leaves'), '1');
  await wait(30);
  assert.ok(left() > 0);
  pass(30);
  assert.equal(await call('leaves'), '1');
  pass(30);
  assert.equal(threads.size, 1);
  pass(30);
  assert.equal(threads.size, 0);
  await wait(30);
  const ended = left();
  await wait(30);
  assert.equal(left(), ended);

  // A new thread is started for the next call.
  assert.equal(await call('leaves'), '1');
  write(directory, { 'leaves.mjs': 'export default ;' });
  assert.equal(await call('leaves'), '1');
  pass(90);
  assert.equal(threads.size, 1);
  assert.equal(await call('leaves'), '1');
  write(directory, { 'leaves.mjs': 'export default () => 2;' });
  assert.equal(await call('leaves'), '2');
  pass(90);
  assert.equal(threads.size, 0);
});
