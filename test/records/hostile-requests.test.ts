import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertClean, assertRefused, masterHeaders, path, send, unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';

const notObjects = ['[]', '[{"Name":"a"}]', '"x"', '5', 'null', 'true', 'false', '""'];
const notJson = [
  '{',
  '}',
  '{"a":}',
  "{'a':1}",
  '{"a":1,}',
  '{"a":NaN}',
  '{"a":1}x',
  '{"a" 1}',
  '{"a":01}',
  '{"a":"\n"}',
  '{"a":"\\x"}',
  'undefined',
  'a=1',
  '<a/>',
  '\u0000',
  '{"a":1',
];

for (const engine of sampledEngines())
  describe(engine, () => {
    const store = useStore(engine);

    /** Sends bodies to POST and PUT of a table with one record; asserts that every answer is a 4xx and nothing changes. */
    const without = async (
      check: (
        ask: (method: 'POST' | 'PUT') => { method: string; path: string; headers: Record<string, string> },
      ) => Promise<void>,
    ) => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const before = await store.snapshot(table);
      await check((method) => ({
        method,
        path: method === 'POST' ? path(table) : path(table, id),
        headers: masterHeaders(store.service()),
      }));
      assert.equal(await store.snapshot(table), before);
    };

    for (const body of notObjects)
      test(`Requests: a body that is not an object is 400 code 107 (${body})`, () =>
        without(async (ask) => {
          for (const method of ['POST', 'PUT'] as const)
            assertRefused(await send(store.service(), { ...ask(method), body }), { code: 107 });
        }));

    for (const body of notJson)
      test(`Requests: malformed JSON is 400 code 107 (${JSON.stringify(body)})`, () =>
        without(async (ask) => {
          for (const method of ['POST', 'PUT'] as const) {
            assertRefused(await send(store.service(), { ...ask(method), body }), { code: 107 });
            const asText = { ...ask(method), headers: { ...masterHeaders(store.service()), 'Content-Type': 'text/plain' } };
            assertRefused(await send(store.service(), { ...asText, body }), { code: 107 });
          }
        }));

    for (const chunked of [false, true])
      test(`Requests: a body over 20 MB is 413, ${chunked ? 'sent in chunks' : 'with its length told'}`, () =>
        without(async (ask) => {
          const body = `{"Name":"${'x'.repeat(21 * 1024 * 1024)}"}`;
          for (const method of ['POST', 'PUT'] as const) {
            const answer = await send(store.service(), { ...ask(method), body, chunked });
            assert.equal(answer.status, 413, answer.text.slice(0, 200));
            assert.deepEqual(answer.body, { code: 116, error: 'Request body is too large.' });
          }
        }));

    test('Requests: a body that is not UTF-8 is refused or read with replacement marks, never a fault', async () => {
      const table = await store.table({ Name: 'String' });
      const body = Buffer.concat([Buffer.from('{"Name":"'), Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80]), Buffer.from('"}')]);
      const answer = await send(store.service(), { path: path(table), headers: masterHeaders(store.service()), body });
      assert.ok(answer.status === 201 || answer.status === 400, answer.text);
      assertClean(answer);
      for (const row of await store.all(table)) assert.match(row.Name, /^\ufffd+$/);
    });

    for (const type of [
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
      'garbage',
      'application/json; charset=utf-7',
    ])
      test(`Requests: Content-Type ${type} never breaks the service`, async () => {
        const table = await store.table({ Name: 'String' });
        const headers = { ...masterHeaders(store.service()), 'Content-Type': type };
        const answer = await send(store.service(), { path: path(table), headers, body: '<a>x</a>' });
        assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`);
        assertClean(answer);
        assert.deepEqual(await store.all(table), []);
      });

    test('Requests: an empty body never breaks the service', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      for (const [method, at] of [
        ['POST', path(table)],
        ['PUT', path(table, id)],
        ['DELETE', path(table, 'abcdefghij')],
        ['GET', path(table, id)],
      ] as const) {
        const answer = await send(store.service(), { method, path: at, headers: masterHeaders(store.service()) });
        assert.ok(answer.status < 500, `${method} ${answer.text}`);
        assertClean(answer);
      }
      assert.equal((await store.read(table, id)).Name, 'a');
    });

    test('Requests: of duplicate keys one value is kept, or the body is refused', async () => {
      const table = await store.table({ N: 'Number', O: 'Object' });
      const answer = await store.post(table, '{"N":1,"N":2,"O":{"a":1,"a":2}}');
      assert.ok(answer.status === 201 || answer.status === 400, answer.text);
      for (const row of await store.all(table)) {
        assert.ok([1, 2].includes(row.N));
        assert.ok([1, 2].includes(row.O.a));
      }
    });

    test('Requests: a duplicate key does not smuggle a wrong type or name past the checks', async () => {
      const table = await store.table({ N: 'Number' });
      for (const body of ['{"N":1,"N":"x"}', '{"a b":1,"a b":2}', '{"N":1,"N":1e999}', '{"__proto__":1,"__proto__":2}'])
        assert.equal((await store.post(table, body)).status, 400, body);
      assert.deepEqual(await store.all(table), []);
    });

    for (const length of [64, 128, 1000, 100_000])
      test(`Requests: a field name of ${length.toLocaleString('en')} letters is kept exactly or refused (105)`, async () => {
        const table = await store.table();
        const [one, two] = [`${'F'.repeat(length - 1)}a`, `${'F'.repeat(length - 1)}b`];
        const answer = await store.post(table, { [one]: 1, [two]: 'x' });
        if (answer.status !== 201) return assertRefused(answer, { code: 105 });
        const record = await store.read(table, answer.body.objectId);
        assert.deepEqual([record[one], record[two]], [1, 'x']);
      });

    for (const length of [64, 128, 1000, 6000])
      test(`Requests: a table name of ${length.toLocaleString('en')} letters is kept exactly or refused`, async () => {
        const [one, two] = [`${'T'.repeat(length - 1)}a`, `${'T'.repeat(length - 1)}b`];
        const answers = [await store.post(one, { N: 1 }), await store.post(two, { N: 2 })];
        for (const [n, answer] of answers.entries()) {
          assert.ok(answer.status === 201 || (answer.status >= 400 && answer.status < 500), answer.text);
          assertClean(answer);
          if (answer.status === 201)
            assert.deepEqual(
              (await store.all(n ? two : one)).map((row) => row.N),
              [n + 1],
            );
        }
      });

    test('Requests: 3,000 fields in one body are stored or refused as a whole', async () => {
      const table = unique('Huge');
      const answer = await store.post(table, Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`F${n}`, n])));
      assert.ok(answer.status === 201 || (answer.status >= 400 && answer.status < 500), answer.text);
      assertClean(answer);
      if (answer.status === 201) assert.equal((await store.read(table, answer.body.objectId)).F2999, 2999);
      else assert.deepEqual(await store.all(table), []);
    });

    const paths = [
      '%00',
      '%',
      '%zz',
      '%ED%A0%80',
      '%ff',
      'T%22%3B--',
      "T'%20OR%20'1'='1",
      'T%0d%0aX-Injected:%201',
      'T%3Ba',
      '%2e%2e%2f%2e%2e%2fetc',
      'a//b',
      'T/a/b/c',
      'T/%00',
      'T/%ED%A0%80',
      'T/%zz',
    ];
    for (const at of paths)
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        test(`Requests: ${method} classes/${at} is a 4xx (or an empty list), and shows nothing of the inside`, async () => {
          const answer = await send(store.service(), {
            method,
            path: `/platform/classes/${at}`,
            headers: masterHeaders(store.service()),
            body: method === 'GET' ? '' : '{"Name":"a"}',
          });
          assertClean(answer);
          if (answer.status === 200) assert.deepEqual(answer.body, { results: [] });
          else assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status} ${answer.text}`);
        });

    test('Requests: a path of 100 KB is a 4xx and the service goes on', async () => {
      const answer = await send(store.service(), {
        method: 'GET',
        path: `/platform/classes/${'a'.repeat(100_000)}`,
        headers: masterHeaders(store.service()),
      });
      assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
      assert.ok(Array.isArray(await store.all(await store.table())));
    });

    test('Requests: a connection that ends in the middle of a body writes nothing', async () => {
      const table = await store.table({ Name: 'String' });
      const { hostname, port } = new URL(store.service().url);
      const { connect } = await import('node:net');
      const head = Object.entries({ ...masterHeaders(store.service()), Host: hostname, 'Content-Length': '1000' });
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          const lines = head.map(([name, value]) => `${name}: ${value}`).join('\r\n');
          socket.write(`POST ${path(table)} HTTP/1.1\r\n${lines}\r\n\r\n{"Name":"half`, () => socket.destroy());
        });
        socket.on('close', () => resolve());
        socket.on('error', () => resolve());
      });
      assert.deepEqual(await store.all(table), []);
    });
  });
