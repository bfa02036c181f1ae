import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, pointer, type Refusal, type Store, useStore } from '../support/records.ts';
import { type Answer, sampledEngines } from '../support/service.ts';

/** One example of each code of this part: how to cause it, and the answer. */
const examples: [string, (store: Store, table: string, id: string) => Promise<Answer>, Refusal][] = [
  [
    '101 Object not found.',
    (store, table) => store.get(table, 'abcdefghij'),
    { status: 404, code: 101, error: 'Object not found.' },
  ],
  [
    '103 Invalid class name: <name>',
    (store) => store.post('a-b', {}),
    { status: 400, code: 103, error: 'Invalid class name: a-b' },
  ],
  [
    '105 Invalid field name: <name>',
    (store, table) => store.post(table, { 'a-b': 1 }),
    { status: 400, code: 105, error: 'Invalid field name: a-b' },
  ],
  ['107 a body that is no object', (store, table) => store.post(table, '[]'), { status: 400, code: 107 }],
  [
    '107 a malformed operator',
    (store, table, id) => store.put(table, id, { N: { __op: 'Increment', amount: 'x' } }),
    { status: 400, code: 107 },
  ],
  [
    '108 unknown operator',
    (store, table, id) => store.put(table, id, { N: { __op: 'X' } }),
    { status: 400, code: 108, error: 'The X operator is not supported yet.' },
  ],
  [
    '111 schema mismatch',
    (store, table) => store.post(table, { N: 'x' }),
    { status: 400, code: 111, error: /^schema mismatch for \w+\.N; expected Number but got String$/ },
  ],
  [
    '119 CAPTCHA',
    (store, table) => store.post(table, {}, { as: 'anonymous' }),
    { status: 400, code: 119, error: 'This action is not allowed without a valid CAPTCHA' },
  ],
  [
    '119 Permission denied',
    (store, table, id) => store.get(table, id, { as: 'anonymous' }),
    { status: 400, code: 119, error: /^Permission denied for action get on class \w+/ },
  ],
  [
    '119 delete guard',
    (store, table, id) => store.remove(table, id),
    { status: 400, code: 119, error: /^Pointer to Object \w+ exists in table \w+ in key P\. Delete is not allowed\.$/ },
  ],
  ['121 a key with $', (store, table) => store.post(table, { O: { $a: 1 } }), { status: 400, code: 121 }],
  ['137 duplicate', (store, table, id) => store.post(table, { objectId: id }), { status: 400, code: 137 }],
];

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    const scene = async () => {
      const table = await store.table({ N: 'Number', O: 'Object' });
      const id = await store.create(table, { N: 1 });
      const pointing = await store.table({ P: { type: 'Pointer', targetClass: table } });
      await store.create(pointing, { P: pointer(table, id) });
      return { table, id };
    };

    for (const [what, ask, refusal] of examples)
      test(`Errors: most failures are HTTP 4xx with a JSON body {code, error}: ${what}`, async () => {
        const { table, id } = await scene();
        const before = await store.snapshot(table);
        const answer = await ask(store, table, id);
        assertRefused(answer, refusal);
        assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
        assert.ok(answer.headers.get('x-request-id'), 'every answer carries X-Request-Id');
        assert.equal(await store.snapshot(table), before);
      });

    test('Errors: an unsupported query parameter on a record is 102', async () => {
      const { table, id } = await scene();
      for (const name of ['distinct', 'readPreference', 'match', 'nonsense'])
        assertRefused(await store.get(table, id, { query: { [name]: 'x' } }), { code: 102 });
    });

    test('Errors: a method that records do not have is a 4xx without effect', async () => {
      const { table, id } = await scene();
      const before = await store.snapshot(table);
      for (const [method, at] of [
        ['PATCH', `/platform/classes/${table}/${id}`],
        ['PUT', `/platform/classes/${table}`],
        ['DELETE', `/platform/classes/${table}`],
      ] as const) {
        const answer = await store.call(method, at, { body: { N: 2 } });
        assert.ok(answer.status >= 400 && answer.status < 500, `${method} ${answer.status} ${answer.text}`);
      }
      assert.equal(await store.snapshot(table), before);
    });
  });
