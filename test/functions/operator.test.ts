/** Functions of an installation. Reference: functions.md#custom-functions. */
import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertClean, date, master, masterHeaders, pointer, unique } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { signUp } from '../support/users.ts';
import { assertFailed, useFunctions } from './operator.ts';

const functions = {
  'echo.ts': 'export default ({ input }: { input: unknown }) => input;',
  'asks.ts': `
    import { defineFunction } from 'record-data-service';
    export default defineFunction(({ request, user, record }) => ({ request, user, record }));`,
  'greets.mjs': `
    import { z } from 'record-data-service';
    export default {
      input: z.object({ name: z.string().min(1), times: z.coerce.number().max(3).default(1) }),
      run: ({ input: { name, times } }) => 'Hello '.repeat(times) + name,
    };`,
  'counts.js': `
    export default {
      input: { type: 'object', required: ['count'], properties: { count: { type: 'integer' }, tags: { type: 'array' } } },
      run: ({ input }) => input,
    };`,
  'nothing.js': 'export default () => {};',
  'throws.js': `export default ({ input }) => { throw new Error(input.message ?? ''); };`,
  'reads.js': `import { readFileSync } from 'node:fs'; export default () => readFileSync('/nowhere/secret.txt');`,
  'broken.ts': 'export default (',
  'getlead.ts': `export default () => 'not this one';`,
  'hangs.js': 'export default () => new Promise(() => {});',
  'late.js': `
    export default async ({ system, input, signal }) => {
      await new Promise((done) => setTimeout(done, 2200));
      await system.create('Tags', { Name: input.name + String(signal.aborted) });
    };`,
  'leaves.js': `export default ({ system }) => { system.create('Accounts', { IsAccount: 5 }); Promise.reject(new Error('left')); return 1; };`,
  'aborts.js': `
    import { spawn } from 'node:child_process';
    const fails = (what) => () => { throw new Error('aborted ' + what); };
    const listens = {
      listener: (signal) => signal.addEventListener('abort', fails('listener')),
      async: (signal) => signal.addEventListener('abort', async () => fails('async')()),
      property: (signal) => { signal.onabort = fails('property'); },
      any: (signal) => AbortSignal.any([signal]).addEventListener('abort', fails('any')),
      spawn: (signal) => spawn(process.execPath, ['-e', 'setTimeout(() => {}, 9000)'], { signal }),
      dispatch: (signal) => { signal.dispatchEvent = fails('dispatch'); },
      reason: (signal) => signal.addEventListener('abort', () => { signal.reason.key = 'internal'; signal.reason.message = 'changed'; Object.freeze(signal.reason); }),
    };
    export default ({ input, signal }) => { listens[input.how](signal); return new Promise(() => {}); };`,
  'odd.js': `
    const trap = () => { throw proxy; };
    const proxy = new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap, ownKeys: trap, getOwnPropertyDescriptor: trap });
    const getter = (name) => Object.defineProperty(new Error('said'), name, { enumerable: true, get: trap });
    const thrown = {
      proxy, frozen: Object.freeze(new Error('frozen one')), message: getter('message'), stack: getter('stack'), any: getter('any'),
      long: new Error('x'.repeat(999) + '😀'.repeat(1e6)), left: null,
    };
    export default async ({ input }) => {
      if (!input.isLeft) throw thrown[input.what];
      Promise.reject(thrown[input.what]);
      setTimeout(() => { throw thrown[input.what]; });
    };`,
  'schema.js': `
    import { z } from 'record-data-service';
    const proxy = new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 1; } });
    const wrong = () => { setTimeout(() => { throw new Error('a check left'); }); throw proxy; };
    export default { input: z.object({}).refine(wrong), run() {} };`,
  'getters.js': `
    const leave = (what) => { Promise.reject(new Error('left by ' + what)); };
    export default async ({ system }) => {
      await system.create('Tags', { get Name() { leave('a getter'); return 'a'; }, More: { toJSON() { leave('toJSON'); return 1; } } });
      await system.find('Tags', { get limit() { leave('an option'); return 1; } });
      await system.createAll({ *[Symbol.iterator]() { leave('an iterator'); } }).catch(() => {});
      await system.get({ toString() { leave('a name'); return 'Tags'; } }, 'a').catch(() => {});
      return { get then() { leave('then'); } };
    };`,
  'loads.js': `
    export default { get input() { Promise.reject(new Error('left by the definition')); }, run: () => 1 };`,
  'writes.ts': `
    import { defineFunction } from 'record-data-service';
    export default defineFunction(async ({ input, system }) => {
      const { objectId } = await system.create('Accounts', { Name: input.name, Birthday: new Date(0), dontRunPlatformTriggers: true });
      await system.update('Accounts', objectId, { City: 'Haifa' });
      return system.get('Accounts', objectId);
    });`,
  'together.js': `
    export default async ({ input, system }) => {
      const objectId = system.newId();
      await system.createAll([
        { table: 'Accounts', fields: { objectId, Name: input.name } },
        { table: 'Sales', fields: { Name: input.name, AccountId: { __type: 'Pointer', className: 'Accounts', objectId }, Total: input.total } },
      ]);
      return system.first('Sales', { where: { Name: input.name }, include: 'AccountId' });
    };`,
  'queries.js': `
    export default async ({ input: { table }, system }) => {
      await system.createAll([1, 2, 3].map((n) => ({ table, fields: { n, even: n % 2 === 0 } })));
      return {
        all: (await system.find(table, { order: '-n', keys: 'n' })).map(({ n }) => n),
        some: (await system.find(table, { where: { n: { $gt: 1 } }, limit: 1 })).map(({ n }) => n),
        count: await system.count(table, { even: false }),
        sums: await system.aggregate(table, [{ $group: { _id: '$even', sum: { $sum: '$n' } } }]),
        fields: (await system.schema(table)).fields.n,
      };
    };`,
  'refused.js': `
    export default async ({ input, system }) => {
      const { code, message } = await system[input.call](...input.with).catch((error) => error);
      return { code, message };
    };`,
};

for (const engine of sampledEngines())
  describe(`functions of the operator, ${engine}`, () => {
    const { send, result, call, deploy, directory, service, all, fields, ...store } = useFunctions(engine, functions, {
      FUNCTION_TIMEOUT_MS: '2000',
      LOG_LEVEL: 'info',
    });

    test('200 {result}; what JSON has nothing for is null', async () => {
      assert.deepEqual(await result('echo', { a: [1, null, { b: 'c' }] }), { a: [1, null, { b: 'c' }] });
      assert.deepEqual((await send('echo')).body, { result: {} });
      const { status, text } = await send('nothing', { body: {} });
      assert.deepEqual([status, text], [200, '{"result":null}']);
    });

    test('a GET and a form bring texts; a JSON Schema turns them to what it asks for', async () => {
      const query = await send('echo', { method: 'GET', query: { a: '1', 'b[]': '2' } });
      assert.deepEqual(query.body, { result: { a: '1', b: ['2'] } });
      const form = { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
      assert.deepEqual((await send('counts', { ...form, body: 'count=5&tags=one' })).body, {
        result: { count: 5, tags: ['one'] },
      });
      assert.deepEqual((await send('greets', { ...form, body: 'name=D%C3%A1n+a&times=2' })).body, {
        result: 'Hello Hello Dán a',
      });
      assertFailed(await send('counts', { body: { count: '5' } }), 'count: must be integer');
    });

    test('what the input lacks is 400 with places and reasons, never values', async () => {
      assertFailed(
        await send('greets', { body: { name: 55, times: 'secret' } }),
        'name: Invalid input: expected string, received number; times: Invalid input: expected number, received NaN',
      );
      assertFailed(await send('counts', { body: {} }), 'count: is missing');
      assert.equal(await result('greets', { name: 'Dana', more: 1 }), 'Hello Dana');
    });

    test('what a function throws is 400 {error: message}; what names paths is not shown', async () => {
      assertFailed(await send('throws', { body: { message: 'Sold out' } }), 'Sold out');
      assertFailed(await send('throws', { body: {} }), 'The function failed.');
      const answer = await send('reads');
      assertFailed(answer, 'The function failed.');
      assertClean(answer);
      assert.match(service().output(), /secret\.txt/);
      assert.match(service().output(), /"system":"testapp","function":"throws","msg":"a function failed"/);
    });

    test('unknown names, unknown applications, and files that cannot be loaded', async () => {
      for (const name of [
        'none',
        'Echo',
        'echo.ts',
        '_helper',
        '__proto__',
        'constructor',
        '..%2Fecho',
        'a%00b',
        'x'.repeat(200),
      ])
        assertFailed(await send(name), 'User function not found');
      const { status, body } = await send('echo', { appId: 'other' });
      assert.deepEqual([status, body], [403, { error: 'unauthorized' }]);
      const broken = await send('broken');
      assert.deepEqual([broken.status, broken.body], [500, { code: 1, error: 'server error' }]);
      assert.equal(
        service()
          .output()
          .match(/broken\.ts","msg":"a function cannot be loaded/g)?.length,
        1,
      );
    });

    test('names of the service’s own functions are the service’s', async () => {
      assertFailed(await send('getlead', { body: {} }), 'missing "PhoneNumber" or "Email"');
      assert.match(service().output(), /"function":"getlead","msg":"the service has a function of this name itself/);
    });

    test('a function knows the request, without credentials, and who is signed in', async () => {
      const { request, user, record } = await result('asks');
      assert.deepEqual([request.method, request.holdsKey, user, record], ['POST', false, null, null]);
      assert.equal(request.ip, '127.0.0.1');
      const dana = await signUp({ call }, { fullname: 'Dana' });
      const signedIn = await send('asks', {
        headers: { 'X-Platform-Session-Token': dana.token, Cookie: 'secret=1', 'X-Own': 'own' },
        body: {},
      });
      const seen = signedIn.body.result;
      assert.deepEqual([seen.user.objectId, seen.user.username, seen.user.fullname], [dana.id, dana.username, 'Dana']);
      assert.equal(seen.request.headers['x-own'], 'own');
      assert.doesNotMatch(signedIn.text, /password|secret=1|"r:|sessionToken/i);
      const withKey = await send('asks', { headers: masterHeaders(service()), body: {} });
      assert.equal(withKey.body.result.request.holdsKey, true);
      assert.equal(withKey.text.includes(service().masterKey), false);
    });

    test('a session that has ended is 209', async () => {
      const dana = await signUp({ call });
      await call('POST', '/platform/logout', { session: dana.token });
      for (const token of [dana.token, 'r:00000000000000000000000000000000', 'nonsense']) {
        const { status, body } = await send('asks', { headers: { 'X-Platform-Session-Token': token }, body: {} });
        assert.deepEqual([status, body], [400, { code: 209, error: 'invalid session token' }]);
      }
    });

    test('a function that takes too long is 503; its records refuse from then on', async () => {
      const name = unique('late');
      const answers = await Promise.all([send('hangs'), send('late', { body: { name } })]);
      for (const { status, body } of answers)
        assert.deepEqual([status, body], [503, { error: 'The function took too long and was given up.' }]);
      await wait(500);
      assert.deepEqual(
        (await all('Tags')).filter((tag) => String(tag.Name).startsWith(name)),
        [],
      );
    });

    test('what a function leaves behind ends nothing', async () => {
      assert.equal(await result('leaves'), 1);
      await wait(100);
      assert.equal(await result('leaves'), 1);
      assert.match(
        service().output(),
        /"message":"left".*"function":"leaves","msg":"a function left something behind that failed"/,
      );
    });

    test('what waits for a signal and fails ends nothing', async () => {
      const ways = ['listener', 'async', 'property', 'any', 'spawn', 'dispatch', 'reason'];
      const answers = await Promise.all(ways.map((how) => send('aborts', { body: { how } })));
      for (const [index, { status, body }] of answers.entries())
        assert.deepEqual([status, body], [503, { error: 'The function took too long and was given up.' }], ways[index]);
      await wait(100);
      assert.deepEqual(await result('echo', { a: 1 }), { a: 1 });
      for (const how of ['listener', 'async', 'property', 'any', 'dispatch'])
        assert.match(
          service().output(),
          new RegExp(`"message":"aborted ${how}".*"function":"aborts","msg":"a function left something behind that failed"`),
        );
    });

    test('whatever a function throws or leaves is answered, logged, and ends nothing', async () => {
      for (const [what, error] of [
        ['proxy', 'The function failed.'],
        ['frozen', 'frozen one'],
        ['message', 'The function failed.'],
        ['stack', 'said'],
        ['any', 'said'],
        ['long', `${'x'.repeat(999)}…`],
      ] as const) {
        const before = service().output().length;
        assertFailed(await send('odd', { body: { what } }), error);
        assert.match(service().output().slice(before), /"function":"odd","msg":"a function failed"/, what);
        assert.equal(await result('odd', { what, isLeft: true }), null);
        await soon(async () =>
          assert.equal(
            service()
              .output()
              .slice(before)
              .match(/"function":"odd","msg":"a function left something/g)?.length,
            2,
            what,
          ),
        );
        assert.ok(service().output().length - before < 40_000, what);
      }
      assertFailed(await send('schema', { body: {} }), 'The function failed.');
      assert.deepEqual(await result('echo', { a: 1 }), { a: 1 });
    });

    test('a function’s code that the records API or the loader runs is the function’s, too', async () => {
      assert.deepEqual(await result('getters'), {});
      assert.equal(await result('loads'), 1);
      await wait(50);
      for (const what of ['a getter', 'toJSON', 'an option', 'an iterator', 'a name', 'then', 'the definition'])
        assert.match(service().output(), new RegExp(`"message":"left by ${what}"`));
      assert.deepEqual(await result('echo', { a: 1 }), { a: 1 });
    });

    test('a file that cannot be looked at is 500, and logged once', async () => {
      symlinkSync('round.js', join(directory, 'round.js'));
      for (let time = 0; time < 3; time++) {
        const { status, body } = await send('round');
        assert.deepEqual([status, body], [500, { code: 1, error: 'server error' }]);
      }
      assert.equal(
        service()
          .output()
          .match(/round\.js","msg":"a function cannot be loaded/g)?.length,
        1,
      );
      assert.equal(service().output().includes('a request failed'), false);
    });

    test('records are written with full rights, by the master dummy user', async () => {
      const name = unique('by function ');
      const written = await result('writes', { name });
      assert.deepEqual([written.Name, written.City, written.Birthday], [name, 'Haifa', date('1970-01-01T00:00:00.000Z')]);
      assert.deepEqual([written.createdBy, written.updatedBy], [master, master]);
      assert.deepEqual(await store.read('Accounts', written.objectId), written);
      assert.equal('dontRunPlatformTriggers' in written, false);
    });

    test('several records are one commit', async () => {
      const name = unique('together ');
      const sale = await result('together', { name, total: 5 });
      assert.equal(sale.AccountId.Name, name);
      const other = unique('never ');
      assertFailed(
        await send('together', { body: { name: other, total: 'text' } }),
        'schema mismatch for Sales.Total; expected Number but got String',
      );
      assert.equal((await all('Accounts')).filter((account) => account.Name === other).length, 0);
    });

    test('queries, counts and aggregations', async () => {
      const table = unique('Numbers');
      const { sums, ...found } = await result('queries', { table });
      assert.deepEqual(found, { all: [3, 2, 1], some: [2], count: 2, fields: { type: 'Number' } });
      assert.deepEqual(
        new Map(sums.map((row: { objectId: boolean; sum: number }) => [row.objectId, row.sum])),
        new Map([
          [false, 4],
          [true, 2],
        ]),
      );
    });

    test('what the records refuse comes with the service’s code and text', async () => {
      const refused = (name: string, ...given: unknown[]) => result('refused', { call: name, with: given });
      assert.deepEqual(await refused('update', 'Accounts', 'nowhere', { Name: 'a' }), {
        code: 101,
        message: 'Object not found.',
      });
      assert.deepEqual(await refused('create', '_User', { username: unique('u'), password: 'weak' }), {
        code: 142,
        message: 'Password does not meet the Password Policy requirements.',
      });
      assert.equal((await refused('create', '_Session', {})).code, 119);
      assert.equal((await refused('find', '_StoredFile')).code, 119);
      assert.equal((await refused('create', 'Accounts', { 'no name': 1 })).code, 105);
      assert.equal((await refused('find', 'Accounts', { where: { $or: 5 } })).code, 102);
      const account = await store.create('Accounts', { Name: 'pointed at' });
      await store.create('Sales', { AccountId: pointer('Accounts', account) });
      assert.equal((await refused('delete', 'Accounts', account)).code, 119);
      assert.equal('no name' in (await fields('Accounts')), false);
    });

    test('files that change, come and go count from the next call on; a broken version leaves the one before', async () => {
      deploy({
        'fresh.ts': `import { value } from './lib/value.ts'; export default () => value;`,
        'lib/value.ts': 'export const value = 1;',
      });
      assert.equal(await result('fresh'), 1);
      deploy({ 'lib/value.ts': 'export const value = 2;' });
      assert.equal(await result('fresh'), 2);
      deploy({ 'fresh.ts': 'export default (' });
      for (let time = 0; time < 3; time++) assert.equal(await result('fresh'), 2);
      assert.equal(
        service()
          .output()
          .match(/fresh\.ts","msg":"a function cannot be loaded: the version before/g)?.length,
        1,
      );
      deploy({ 'fresh.ts': 'export default () => 3;' });
      assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => result('fresh'))), Array(20).fill(3));
      rmSync(join(directory, 'fresh.ts'));
      assertFailed(await send('fresh'), 'User function not found');
    });
  });
