/** What functions do to the threads that run them, and to nobody else. Reference: functions.md#threads. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { runsCode } from '../automation/effects.ts';
import { byKey } from '../mcp/tools/callers.ts';
import { type Json, unique } from '../support/records.ts';
import { type Answer, sampledEngines } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { assertFailed, useFunctions } from './operator.ts';

const files = {
  'echo.js': 'export default ({ input }) => input;',
  'loops.js': 'export default () => { for (;;); };',
  'later.js': `export default async ({ input, system }) => {
    await new Promise((done) => setTimeout(done, 20));
    await system.create('Notes', { Name: input.name });
    for (;;);
  };`,
  'checks.js': `import { z } from 'record-data-service';
    export default { input: z.object({ text: z.string().refine(() => { for (;;); }) }), run: () => 1 };`,
  'heap.js': 'export default () => { const all = []; for (;;) all.push({ all }); };',
  'arrays.js': 'export default () => { let all = [1]; for (;;) all = [...all, ...all]; };',
  'buffers.js': 'export default () => { const all = []; for (;;) all.push(Buffer.alloc(10_000_000, 1)); };',
  'ends.js': 'export default ({ input }) => { process.exit(input.code); };',
  'knows.js': `import { execFileSync } from 'node:child_process';
    import { Worker } from 'node:worker_threads';
    const below = "const { parentPort } = require('node:worker_threads'); parentPort.postMessage({ ...process.env });";
    export default async () => ({
      env: process.env, argv: process.argv.slice(2), execArgv: process.execArgv,
      report: process.report.getReport().environmentVariables ?? {},
      ofChild: JSON.parse(execFileSync(process.execPath, ['-p', 'JSON.stringify(process.env)'])),
      ofThread: await new Promise((done) => new Worker(below, { eval: true }).once('message', done)),
    });`,
  'keeps.js': `export default async ({ input }) => {
      const all = Array.from({ length: input.mb }, () => input.heap ? Array(131_072).fill(0.5) : Buffer.alloc(1_048_576, 1));
      await new Promise((done) => setTimeout(done, 200));
      return all.length;
    };`,
  'first.js': `export default async ({ system, trigger }) => {
      if (trigger.attempt === 1) for (;;);
      await system.create('Attempts', { attempt: trigger.attempt });
    };`,
  'changes.js': `export default () => {
      Array.prototype.map = () => 'changed'; Promise.prototype.then = undefined; JSON.parse = undefined; globalThis.fetch = undefined;
      return 1;
    };`,
  'prints.js': `export default ({ input }) => {
      console.log('printed %s', input.text); console.error('complained'); process.stdout.write('{"level":60,"msg":"forged"}\\n');
    };`,
  'floods.js': 'export default () => { for (let n = 0; n < 20_000; n++) console.log("flood " + n); };',
  'writes.js': `export default async ({ input, system }) => {
      for (let n = 0; n < 20; n++) system.createAll([1, 2, 3].map((part) => ({ table: 'Parts', fields: { Name: input.name, part } })));
      await new Promise((done) => setTimeout(done, input.wait));
      process.exit();
    };`,
  'message.js': `import { parentPort, workerData } from 'node:worker_threads';
    export default () => { parentPort.postMessage({ type: 'ended' }); parentPort.close(); return Object.keys(workerData).includes('port'); };`,
};

const tooLong = { error: 'The function took too long and was given up.' };
const outcome = ({ status, body }: Answer) => [status, body];

for (const engine of sampledEngines())
  describe(`threads of functions, ${engine}`, () => {
    const operator = useFunctions(engine, files, {
      FUNCTION_TIMEOUT_MS: '1000',
      FUNCTION_MEMORY_MB: '128',
      FUNCTION_ENV_SHOP_KEY: 'of the shop',
      AWS_SECRET_ACCESS_KEY: 'secret of AWS',
      SMTP_URL: 'smtp://user:secret@127.0.0.1:1',
      LOG_LEVEL: 'info',
    });
    const { send, result, call, deploy, service, create } = operator;
    const count = async (table: string, Name: string) => {
      const query = { where: { Name }, limit: 0, count: 1 };
      return (await call('GET', `/platform/classes/${table}`, { query })).body.count;
    };

    test('loops that never wait end at the time limit; meanwhile others are answered', async () => {
      const name = unique('n');
      const looping = Promise.all([
        send('loops', { body: {} }),
        send('checks', { body: { text: 'a' } }),
        send('later', { body: { name } }),
      ]);
      let isOver = false;
      void looping.then(() => (isOver = true));
      let answered = 0;
      while (!isOver) {
        await create('Notes', { Name: 'meanwhile' });
        answered++;
        await wait(5);
      }
      assert.ok(answered > 5, String(answered));
      for (const answer of await looping) assert.deepEqual(outcome(answer), [503, tooLong]);
      assert.equal(await count('Notes', name), 1);
      assert.deepEqual(await result('echo', { a: 1 }), { a: 1 });
    });

    test('twenty calls at once, one of them a loop: the others have their results', async () => {
      const calls = Array.from({ length: 20 }, (_, n) => send(n === 7 ? 'loops' : 'echo', { body: { n } }));
      const answers = await Promise.all(calls);
      assert.deepEqual(
        answers.map(outcome),
        answers.map((_answer, n) => (n === 7 ? [503, tooLong] : [200, { result: { n } }])),
      );
    });

    test('a function that takes all memory is an error to its caller alone', async () => {
      const calls = ['heap', 'arrays', 'buffers'].map((name) => send(name, { body: {} }));
      for (const { status, body } of await Promise.all(calls)) {
        // A slow machine may reach the time limit first.
        if (status === 503) assert.deepEqual(body, tooLong);
        else assert.deepEqual([status, body], [400, { error: 'The function used too much memory and was ended.' }]);
      }
      assert.deepEqual(await result('echo', { a: 1 }), { a: 1 });
    });

    test('each thread may use FUNCTION_MEMORY_MB, of heap and of buffers', async () => {
      const both = (mb: number) => Promise.all([false, true].map((heap) => send('keeps', { body: { mb, heap } })));
      assert.deepEqual((await both(50)).map(outcome), Array(2).fill([200, { result: 50 }]));
      for (const answer of await both(200)) assertFailed(answer, 'The function used too much memory and was ended.');
    });

    test('process.exit ends the thread of the function', async () => {
      for (const code of [0, 3]) assertFailed(await send('ends', { body: { code } }), 'The function ended its thread.');
      assert.deepEqual(await result('echo', { a: 1 }), { a: 1 });
    });

    test('a function has the environment variables that are meant for it, and none of the service', async () => {
      const known = await result('knows');
      for (const env of [known.env, known.ofChild, known.ofThread]) assert.deepEqual(env, { SHOP_KEY: 'of the shop' });
      assert.deepEqual([known.argv, known.report], [[], {}]);
      assert.doesNotMatch(JSON.stringify(known), /secret/);
      assert.equal(await result('message'), false);
    });

    test('loops called by triggers, at once and from the queue, after a request and agent tools, stop nobody', async () => {
      const tools = byKey(operator);
      const triggerOn = async (table: string, action: object) => {
        await operator.table({ Name: 'String' }, table);
        const body = { Name: table, table, events: ['create'], actions: [action] };
        return (await call('POST', '/platform/classes/_Trigger', { body })).body.objectId as string;
      };
      const now = await triggerOn('LoopsNow', runsCode('loops'));
      const later = await triggerOn('LoopsLater', runsCode('first', true));
      /** What the log says of the calls. */
      const called = async (triggerId: string) => {
        const query = { where: { triggerId, actionId: { $exists: true } } };
        const { results } = (await call('GET', '/platform/classes/_syslogTriggers', { query })).body;
        return results.map(({ error }: Json) => error && JSON.parse(error));
      };
      await create('LoopsNow', { Name: 'by a request' });
      for (const table of ['LoopsNow', 'LoopsLater']) await tools.use('Create-Record', { table, data: { Name: 'by a tool' } });
      let answered = 0;
      // The queue repeats its call, the other ones are not repeated.
      const haveEnded = async () => {
        await create('Notes', { Name: 'meanwhile' });
        await tools.use('Get-Data', { table: 'Notes', limit: 1 });
        answered++;
        const { results } = (await call('GET', '/platform/classes/Attempts')).body;
        const attempts = results.map(({ attempt }: Json) => attempt);
        assert.deepEqual([await called(now), await called(later), attempts], [Array(2).fill(tooLong.error), [undefined], [2]]);
      };
      await soon(haveEnded, 20_000);
      assert.ok(answered > 10, String(answered));
    });

    test('what a function changes in its globals is its thread’s', async () => {
      await send('changes', { body: {} });
      for (let n = 0; n < 3; n++) await create('Notes', { Name: 'after a change' });
      assert.equal((await call('GET', '/platform/classes/Notes', { query: { limit: 1 } })).status, 200);
      // A thread that cannot work any more is replaced.
      await soon(async () => assert.deepEqual(await result('echo', { a: 1 }), { a: 1 }));
    });

    test('what a function prints is a line of the log, and no more than so many', async () => {
      const from = service().output().length;
      await result('prints', { text: 'by me' });
      const printed = () => service().output().slice(from);
      await soon(async () => assert.match(printed(), /"function":"prints","output":"stdout","msg":"printed by me"/));
      assert.match(printed(), /"function":"prints","output":"stderr","msg":"complained"/);
      assert.match(printed(), /"output":"stdout","msg":"\{\\"level\\":60/);
      assert.doesNotMatch(printed(), /^\{"level":60,"msg":"forged"/m);
      await result('floods');
      await result('echo');
      assert.ok((printed().match(/"msg":"flood /g) ?? []).length <= 200);
    });

    test('a thread that ends while it writes leaves whole commits', async () => {
      for (const delay of [0, 3]) {
        const name = unique('n');
        const { status, body } = await send('writes', { body: { name, wait: delay } });
        if (status === 503) assert.equal(body.code, 1);
        else assert.deepEqual([status, body.error], [400, 'The function ended its thread.']);
        await wait(50);
        assert.equal((await count('Parts', name)) % 3, 0);
      }
      const key = { 'Idempotency-Key': unique('key') };
      const name = unique('n');
      const answers = [];
      for (let n = 0; n < 2; n++) {
        answers.push(await send('writes', { body: { name, wait: 100 }, headers: key }));
        await wait(50);
      }
      assert.equal(await count('Parts', name), 60);
    });

    test('a file whose code never ends when it is loaded stops nobody', async () => {
      const loop = 'for (;;); export default () => 1;';
      deploy({ 'stuck.js': loop });
      const stuck = send('stuck');
      for (let n = 0; n < 5; n++) assert.deepEqual(await result('echo', { n }), { n });
      assert.deepEqual(outcome(await stuck), [500, { code: 1, error: 'server error' }]);
      // The file is not run again until it changes.
      assert.equal((await send('stuck')).status, 500);
      deploy({ 'stuck.js': 'export default () => 2;' });
      assert.equal(await result('stuck'), 2);
    });
  });
