import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fail } from '../../errors/fail.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { batchEndpoint } from './batch.ts';

const log: string[] = [];
const item = (method: Endpoint['method'], path: string, handle: Endpoint['handle']): Endpoint => ({ method, path, handle });
const batch = batchEndpoint(
  [
    item('GET', '/t/:id', async () => ({ status: 200, json: '{}' })),
    item('POST', '/t', async ({ body }) => {
      log.push(`begin ${JSON.stringify(body)}`);
      await null;
      log.push('end');
      return { status: 201, json: JSON.stringify(body) };
    }),
    item('PUT', '/t/:id', async ({ params }) =>
      params.id === 'none' ? fail('objectNotFound') : { status: 200, json: JSON.stringify(params) },
    ),
    item('PUT', '/late', async () => fail('timeout')),
    item('DELETE', '/t/:id', () => {
      throw new Error('a bug');
    }),
  ],
  (error) => log.push(`fault ${(error as Error).message}`),
);
const send = async (body: unknown) => {
  const { json } = await batch.handle({ body, context: { hooks: {} } } as ApiRequest);
  return JSON.parse(json as string);
};
const post = (n: number) => ({ method: 'POST', path: '/platform/t', body: { n } });

test('every item begins before any ends, and answers stand in order', async () => {
  log.length = 0;
  assert.deepEqual(await send({ requests: [post(1), post(2)] }), [{ success: { n: 1 } }, { success: { n: 2 } }]);
  assert.deepEqual(log, ['begin {"n":1}', 'begin {"n":2}', 'end', 'end']);
});
test('of a huge batch 1,000 items are under way at once, and others come in between', async () => {
  log.length = 0;
  let between = 0;
  const answers = send({ requests: Array.from({ length: 2_500 }, (_, n) => post(n)) });
  setImmediate(() => {
    between = log.length;
  });
  assert.deepEqual((await answers)[2_499], { success: { n: 2_499 } });
  assert.equal(log.indexOf('end'), 1_000);
  assert.ok(between > 0 && between < 5_000, String(between));
});
test('of answers as large as records a few are made at once, and too many together are refused before they are begun', async () => {
  let begun = 0;
  const text = `{"list":"${'x'.repeat(3_000_000)}"}`;
  const echoing = batchEndpoint(
    [
      item('PUT', '/t/:id', async () => {
        begun++;
        return { status: 200, json: text };
      }),
    ],
    () => {},
  );
  const put = { method: 'PUT', path: '/platform/t/1', body: { list: { __op: 'Add', objects: [1] } } };
  const { json } = await echoing.handle({
    body: { requests: Array(60).fill(put) },
    context: { hooks: {} },
  } as unknown as ApiRequest);
  const answers = JSON.parse(json as string);
  assert.equal(begun, 25);
  assert.equal(answers.length, 60);
  assert.ok(answers[24].success);
  assert.deepEqual(answers[25].error.code, 116);
  assert.deepEqual(answers[59], answers[25]);
});
test('items that anybody may ask for are not begun after half a minute, the others are', async ({ mock }) => {
  let now = 0;
  mock.method(performance, 'now', () => now);
  const open: Endpoint = {
    method: 'POST',
    path: '/login',
    open: true,
    async handle() {
      now += 10_001;
      return { status: 200, json: '{}' };
    },
  };
  const withLogins = batchEndpoint([open, item('POST', '/t', async () => ({ status: 201, json: '{}' }))], () => {});
  const login = { method: 'POST', path: '/platform/login', body: {} };
  const { json } = await withLogins.handle({
    body: { requests: [login, login, login, login, post(1)] },
    context: { hooks: {} },
  } as unknown as ApiRequest);
  const [first, second, third, fourth, other] = JSON.parse(json as string);
  assert.deepEqual([first, second, third, other], Array(4).fill({ success: {} }));
  assert.match(fourth.error.error, /not available now/);
});
test('of items that change a place in a value a few are under way at once, of new records with places all', async () => {
  let underWay = 0;
  let most = 0;
  const handle = async () => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
    return { status: 200, json: '{}' };
  };
  const editing = batchEndpoint([item('PUT', '/t/:id', handle), item('POST', '/t', handle)], () => {});
  const mostOf = async (method: string, path: string) => {
    most = 0;
    const requests = Array.from({ length: 60 }, (_, n) => ({ method, path, body: { n: 1, 'list.0': n % 2 ? n : `${n}` } }));
    await editing.handle({ body: { requests }, context: { hooks: {} } } as unknown as ApiRequest);
    return most;
  };
  assert.deepEqual([await mostOf('PUT', '/platform/t/1'), await mostOf('POST', '/platform/t')], [25, 60]);
});
test('items fail alone; faults are reported, not shown', async () => {
  log.length = 0;
  const requests = [
    { method: 'PUT', path: '/platform/t/none', body: {} },
    { method: 'PUT', path: '/platform/t/a%20b?x=1', body: {} },
    { method: 'DELETE', path: '/platform/t/a' },
    { method: 'POST', path: '/platform/t', body: { _MasterKey: 'm', n: 1 } },
    { method: 'GET', path: '/platform/t/a' },
    { method: 'POST', path: '/platform/t' },
  ];
  const lost = { error: { error: 'Cannot convert undefined or null to object' } };
  assert.deepEqual(await send({ requests }), [
    { error: { code: 101, error: 'Object not found.' } },
    { success: { id: 'a b' } },
    { error: { code: 1, error: 'server error' } },
    { success: { n: 1 } },
    lost,
    lost,
  ]);
  assert.ok(log.includes('fault a bug'));
});
test('an item is never told that it took too long; a batch of which nothing was done is refused as a whole', async () => {
  const late = { method: 'PUT', path: '/platform/late', body: {} };
  await assert.rejects(send({ requests: [late, late] }), { key: 'unavailable' });
  const unavailable = { error: { code: 1, error: 'server error: the service is not available now' } };
  assert.deepEqual(await send({ requests: [post(1), late] }), [{ success: { n: 1 } }, unavailable]);
});
for (const [bad, error] of [
  [{ method: 'POST', path: '/t' }, 'cannot route batch path /t'],
  [{ method: 'POST', path: '/platformx/t' }, 'cannot route batch path /platformx/t'],
  [{ method: 'PATCH', path: '/platform/t' }, 'cannot route PATCH /platform/t'],
  [{ method: '__proto__', path: '/platform/t' }, 'cannot route __proto__ /platform/t'],
  [{ method: 'POST', path: '/platform/batch' }, 'cannot route POST /platform/batch'],
  [{ method: 'PUT', path: '/platform/t/' }, 'cannot route PUT /platform/t/'],
  [{ method: 'PUT', path: '/platform/t/%zz' }, 'cannot route PUT /platform/t/%zz'],
  [null, 'cannot route batch path undefined'],
  [{ method: { a: 1 }, path: { a: 1 } }, 'cannot route batch path null'],
] as const)
  test(`${error}, before any item begins`, async () => {
    log.length = 0;
    await assert.rejects(send({ requests: [post(1), bad] }), { code: 107, message: error });
    assert.deepEqual(log, []);
  });
