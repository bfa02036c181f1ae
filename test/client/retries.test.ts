/** What the client repeats, and what it does not, behind a proxy that spoils answers (client.md#repetitions). */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { client, RecordServiceError } from '../../client/src/index.ts';
import { unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { type Fault, type FaultyProxy, startProxy } from './faulty-proxy.ts';
import { clientOf, refused } from './world.ts';

const unavailable: Fault = {
  status: 503,
  headers: { 'retry-after': '0' },
  body: '{"code":1,"error":"server error: the service is not available now"}',
};
const inDoubt: Fault = {
  ...unavailable,
  body: '{"code":1,"error":"server error: the outcome of this write is unknown","inDoubt":true}',
};
const tooMany: Fault = {
  status: 429,
  headers: { 'retry-after': '0' },
  body: '{"code":155,"error":"Too many requests. Try again later."}',
};
const underWay: Fault = { status: 409, body: '{"code":409,"error":"A request with this Idempotency-Key is under way."}' };
const slowQuery: Fault = { status: 503, body: '{"code":124,"error":"The query took too long and was ended."}' };
const gateway: Fault = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' };
const maintenance: Fault = { status: 503, headers: { 'content-type': 'text/html' }, body: '<h1>Back soon</h1>' };
const longPause: Fault = { ...tooMany, headers: { 'retry-after': '3600' } };

for (const engine of sampledEngines())
  describe(`repetitions, ${engine}`, () => {
    const store = useStore(engine);
    let proxy: FaultyProxy;
    let table: string;
    let crm: ReturnType<typeof clientOf>;
    before(async () => {
      proxy = await startProxy(store.service().url);
      table = await store.table({ Name: 'String', Total: 'Number' });
      crm = clientOf({ ...store.service(), url: proxy.url }, { retries: { minDelayMs: 1 } });
    });
    after(() => proxy.close());
    const keys = () => new Set(proxy.seen.map(({ headers }) => headers['idempotency-key']));

    for (const [name, ...faults] of [
      ['not available', unavailable],
      ['too many requests', tooMany],
      ['a gateway without a service', gateway, maintenance],
      ['a connection that ends before the answer', 'cut before'],
      ['one that ends after the write', 'cut after'],
      ['one that ends inside the answer', 'cut inside'],
      ['three faults', 'cut after', unavailable, underWay],
      ['an outcome that is unknown', inDoubt],
    ] as [string, ...Fault[]][])
      test(`${name}: reads and writes are repeated, and a write has one effect`, async () => {
        const Name = unique('name');
        proxy.spoil(...faults);
        const { objectId } = await crm.table(table).create({ Name, Total: 1 });
        assert.deepEqual([proxy.seen.length, keys().size], [faults.length + 1, 1]);
        proxy.spoil(...faults);
        await crm.table(table).update(objectId, { Total: { __op: 'Increment', amount: 1 } });
        assert.equal(keys().size, 1);
        proxy.spoil(...faults);
        const { results } = await crm.table(table).find({ where: { Name } });
        assert.deepEqual([results.map(({ Total }) => Total), proxy.seen.length], [[2], faults.length + 1]);
        assert.deepEqual([...keys()], [undefined], 'reads have no key');
        proxy.spoil(...faults);
        const [made] = await crm.transaction((items) => [items.table(table).create({ Name })]);
        proxy.spoil(...faults);
        await crm.table(table).delete(made.objectId);
        proxy.spoil(...faults);
        await crm.functions.call('getlead', { Name, PhoneNumber: '0501234567' });
        assert.equal(await crm.table('Accounts').count({ Name }), 1);
        assert.equal(await crm.table(table).count({ Name }), 1);
      });

    test('each write has a key of its own, each attempt an id of its own', async () => {
      proxy.spoil();
      for (const Name of ['a', 'b']) await crm.table(table).create({ Name });
      assert.equal(keys().size, 2);
      proxy.spoil(unavailable);
      await crm.table(table).create({});
      assert.equal(new Set(proxy.seen.map(({ headers }) => headers['x-request-id'])).size, 2);
    });

    test('repetitions end, and the error says what the last answer was', async () => {
      proxy.spoil(...Array.from({ length: 9 }, () => unavailable));
      const error = await refused(crm.table(table).find(), { status: 503, code: 1, message: /not available now$/ });
      assert.deepEqual([error.kind, error.retryAfterMs, error.inDoubt, proxy.seen.length], ['refused', 0, false, 4]);
      proxy.spoil('cut after', unavailable);
      const write = await refused(crm.table(table).create({}, { retries: 1 }), { status: 503, code: 1 });
      assert.equal(write.inDoubt, true, 'the first attempt may have written');
      for (const [status, code, doubt] of [
        [400, 111, false],
        [404, 101, false],
        [412, 409, false],
        [413, 116, true],
        [400, 209, true],
        [500, 1, true],
      ] as const) {
        proxy.spoil('cut after', { status, body: JSON.stringify({ code, error: 'no' }) });
        const last = await refused(crm.table(table).create({}), { status, code });
        assert.deepEqual([last.inDoubt, proxy.seen.length], [doubt, 2], `${status} ${code}`);
        proxy.spoil({ status, body: JSON.stringify({ code, error: 'no' }) });
        assert.equal((await refused(crm.table(table).create({}), { status, code })).inDoubt, false);
      }
    });

    const once: [string, Fault, (name: string) => Promise<unknown>, number, number?][] = [
      ['a write without a key', 'cut before', (Name) => crm.table(table).create({ Name }, { idempotencyKey: false }), 0],
      [
        'a write without a key that is not available',
        unavailable,
        () => crm.table(table).create({}, { idempotencyKey: false }),
        503,
        1,
      ],
      ['a login', unavailable, () => crm.users.logIn({ username: 'a', password: 'b' }), 503, 1],
      ['an upload', 'cut before', () => crm.files.upload('a.txt', 'a'), 0],
      ['any other request that writes', 'cut before', () => crm.request('PUT', `schemas/${table}`, { body: {} }), 0],
      [
        'a record that has changed',
        { status: 412, body: '{"code":409,"error":"changed"}' },
        () => crm.table(table).update('a', {}),
        412,
        409,
      ],
      ['a time limit', slowQuery, () => crm.table(table).find(), 503, 124],
      [
        'a fault of the service',
        { status: 500, body: '{"code":1,"error":"server error"}' },
        () => crm.table(table).find(),
        500,
        1,
      ],
      ['a delay that is too long', longPause, () => crm.table(table).find(), 429, 155],
      ['what a client without repetitions sends', unavailable, () => crm.table(table).find({ retries: 0 }), 503, 1],
    ];
    for (const [name, fault, call, status, code] of once)
      test(`sent once: ${name}`, async () => {
        proxy.spoil(fault);
        await refused(call(unique('name')), { status, ...(code !== undefined && { code }) });
        assert.equal(proxy.seen.length, 1);
      });

    test('a timeout is an error, and the program ends a call by its signal', async () => {
      proxy.spoil('hang', 'hang');
      const late = await refused(crm.table(table).create({}, { timeoutMs: 30, retries: 1 }), {
        status: 0,
        message: /within 30 ms/,
      });
      assert.deepEqual([late.kind, late.inDoubt, proxy.seen.length], ['timeout', true, 2]);
      proxy.spoil('hang');
      assert.equal(typeof (await crm.table(table).count({}, { timeoutMs: 200, retries: 20 })), 'number', 'a timeout is repeated');
      for (const fault of ['hang', longPause] as const) {
        proxy.spoil(fault);
        const controller = new AbortController();
        const call = crm.table(table).find({ signal: controller.signal, retries: { maxDelayMs: 10_000_000 } });
        while (proxy.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
        controller.abort(new Error('enough'));
        await assert.rejects(call, { message: 'enough' });
        assert.equal(proxy.seen.length, 1);
      }
      proxy.spoil(longPause);
      const ofClient = new AbortController();
      const settings = { signal: ofClient.signal, retries: { maxDelayMs: 10_000_000 } };
      const waiting = clientOf({ ...store.service(), url: proxy.url }, settings)
        .table(table)
        .find();
      while (proxy.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      ofClient.abort(new Error('all of them'));
      await assert.rejects(waiting, { message: 'all of them' });
      proxy.spoil();
      await assert.rejects(crm.table(table).find({ signal: AbortSignal.abort() }), { name: 'AbortError' });
      assert.equal(proxy.seen.length, 0);
    });

    test('no service, another server and a redirect are errors that say so', async () => {
      const closed = await startProxy('http://127.0.0.1:1');
      await closed.close();
      const options = { retries: 0 };
      const gone = await refused(
        clientOf({ ...store.service(), url: closed.url }, options)
          .table(table)
          .find(),
        { status: 0 },
      );
      assert.deepEqual([gone.kind, gone.message, gone.code], ['network', 'The service did not answer: ECONNREFUSED.', undefined]);
      assert.match(gone.requestId ?? '', /^[0-9a-f]{32}$/);
      proxy.spoil({ status: 200, body: '<p>hello</p>' });
      assert.equal((await refused(crm.table(table).find(), { status: 200, message: /check url/ })).kind, 'answer');
      proxy.spoil({ status: 204 });
      assert.equal((await refused(crm.table(table).count(), { status: 204 })).kind, 'answer');
      proxy.spoil({ status: 301, headers: { location: 'http://127.0.0.1:1/' } });
      assert.equal((await refused(crm.table(table).create({}), { status: 301, message: /redirects/ })).inDoubt, false);
      assert.equal(proxy.seen.length, 1, 'the credential is not sent elsewhere');
    });

    test('errors have the id of the log, further members, and never a credential', async () => {
      const { url, appId, apiKey } = store.service();
      proxy.spoil();
      const error = await refused(crm.table(table).update('nobody', {}), { status: 404, code: 101 });
      assert.equal(error.requestId, proxy.seen[0]?.headers['x-request-id']);
      const key = 'secret-key-of-a-program';
      const wrong = client({ url, appId, apiKey: key, retries: 0 });
      const failing = client({ url, appId, apiKey: key, retries: 0, fetch: () => Promise.reject(new TypeError('failed')) });
      for (const call of [
        () => wrong.table(table).find(),
        () => failing.table(table).create({}),
        () => failing.files.upload('a', 'b'),
      ]) {
        const thrown = await call().then(
          () => assert.fail('not refused'),
          (caught: unknown) => caught,
        );
        assert.ok(thrown instanceof RecordServiceError);
        assert.ok(!inspect(thrown, { depth: 9, showHidden: true }).includes(key));
      }
      assert.ok(!inspect(crm, { depth: 9, showHidden: true, showProxy: true }).includes(apiKey));
      assert.ok(!JSON.stringify(crm).includes(apiKey));
    });

    test('settings that cannot work are refused without showing them', () => {
      const { url, appId } = store.service();
      const settings: [object, RegExp][] = [
        [{ apiKey: 'a secret\n' }, /^apiKey is empty, or has characters that no header holds$/],
        [{ sessionToken: '' }, /^sessionToken /],
        [{ masterKey: 'מפתח' }, /^masterKey /],
        [{ apiKey: 'a', sessionToken: 'b' }, /^give one of apiKey, masterKey and sessionToken$/],
        [{ url: `${url}/platform` }, /^url is the base of the service/],
        [{ url: 'http://dana:secret@example.com' }, /^url is the base of the service/],
        [{ url: 'ftp://example.com' }, /^url is the base of the service/],
        [{ url: 'http://dana:secret@' }, /^url is the base of the service/],
        [{ url: '' }, /^url is the base of the service/],
      ];
      for (const [one, message] of settings)
        assert.throws(
          () => client({ url, appId, ...one }),
          (error: Error) => error instanceof TypeError && message.test(error.message) && !error.message.includes('secret'),
        );
    });
  });

test('numbers that JSON does not have are refused, instead of clearing a field', async () => {
  const crm = client({ url: 'http://127.0.0.1:1', appId: 'APP' });
  await assert.rejects(crm.table('T').create({ Total: Number.NaN }), {
    name: 'TypeError',
    message: 'Total is NaN, which is no value',
  });
});
