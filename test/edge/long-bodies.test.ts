/** JSON bodies of many values; other requests are answered while a long body is parsed. Reference: requests.md#bodies. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { assertRefused, masterHeaders, path, send, useStore } from '../support/records.ts';
import { anyEngine } from '../support/service.ts';

/** Just below the limit of a body, in bytes. */
const BODY = 20 * 1024 * 1024 - 100;
/** Repeats a value, separated by commas. */
const values = (count: number, one: string) => new Array(count).fill(one).join(',');

for (const engine of anyEngine)
  describe(engine, () => {
    const store = useStore(engine);

    const tooMany: [what: string, body: () => string][] = [
      ['20 MB of digits in a list', () => `{"list":[${values(BODY / 2 - 10, '1')}]}`],
      ['lists inside a list', () => `{"list":[[${values(450_000, '[]')}]]}`],
      ['an object of many keys', () => `{"o":{${Array.from({ length: 90_000 }, (_, n) => `"k${n}":1`).join(',')}}}`],
      ['a batch', () => `{"requests":[${values(700_000, '{"a":1,"b":2}')}]}`],
    ];
    for (const [what, bodyOf] of tooMany)
      test(`Requests: too many values are 413 code 116, and nothing is done: ${what}`, async () => {
        const table = await store.table({ Name: 'String' });
        const id = await store.create(table, { Name: 'a' });
        const before = await store.snapshot(table);
        const body = bodyOf();
        assert.ok(body.length <= BODY + 100);
        const headers = masterHeaders(store.service());
        for (const [method, at] of [
          ['POST', path(table)],
          ['PUT', path(table, id)],
          ['POST', '/platform/batch'],
        ] as const) {
          const answer = await send(store.service(), { method, path: at, headers, body });
          assert.equal(answer.status, 413, answer.text.slice(0, 200));
          assert.deepEqual(answer.body, { code: 116, error: 'Request body is too large: too many values.' });
        }
        assert.equal(await store.snapshot(table), before);
      });

    const members = values(30_000, '{"a":[1,{"b":"]\\"}"}],"ש":null}');
    const nested = (levels: number, inner: string) => `${'{"a":['.repeat(levels / 2)}${inner}${']}'.repeat(levels / 2)}`;
    const long: readonly (readonly [what: string, type: string, text: string])[] = [
      ['a string with escapes', 'String', `"${'\\u05e9\\n\\ud83d\\ude00é'.repeat(120_000)}"`],
      ['an Array of objects', 'Array', `[${members}]`],
      ['an Object with an Array deep inside', 'Object', nested(90, members)],
      [
        'an Object of many keys',
        'Object',
        `{${Array.from({ length: 50_000 }, (_, n) => `"${n % 2 ? 'k' : ''}${n}":[${n}]`).join(',')}}`,
      ],
      ['an Array of Dates', 'Array', `[${values(20_000, '{"__type":"Date","iso":"2026-11-29T10:00:00.000Z"}')}]`],
    ];
    for (const [what, type, text] of long)
      test(`Requests: a long value is stored as it was sent, on every way: ${what}`, async () => {
        const table = await store.table({ Value: type, Name: 'String' });
        const body = `{"Value":${text},"Name":"last"}`;
        const headers = masterHeaders(store.service());
        const item = (method: string, at: string) => `{"requests":[{"method":"${method}","path":"${at}","body":${body}}]}`;
        const id = await store.create(table, {});
        const sent = [
          await send(store.service(), { method: 'POST', path: path(table), headers, body }),
          await send(store.service(), { method: 'PUT', path: path(table, id), headers, body }),
          await send(store.service(), { method: 'POST', path: '/platform/batch', headers, body: item('POST', path(table)) }),
        ];
        for (const answer of sent) assert.ok(answer.status < 300 && !answer.text.includes('error'), answer.text.slice(0, 200));
        const { body: found } = await send(store.service(), { method: 'GET', path: path(table), headers });
        assert.equal(found.results.length, 3);
        const expected = JSON.stringify(JSON.parse(text));
        for (const { Value, Name } of found.results) {
          assert.ok(JSON.stringify(Value) === expected);
          assert.equal(Name, 'last');
        }
      });

    const faults: readonly (readonly [what: string, value: string, code: number, type?: string])[] = [
      ['a key that is forbidden', `[${members},{"__proto__":1}]`, 105],
      ['a key with a dot', `[${members},{"a.b":1}]`, 121],
      ['a Date that is none', `[${members},{"__type":"Date","iso":"today"}]`, 111],
      ['a value of another type', `{"a":[${members}]}`, 111],
      ['an operator with such a key', `{"__op":"Add","objects":[${members},{"$b":1}]}`, 121],
      ['half of a surrogate pair', `[${members},"\\ud83d"]`, 107],
      ['NUL in a long string', `["${'x'.repeat(3_000_000)}\\u0000"]`, 107],
      ['a comma at the end', `[${members},]`, 107],
    ];
    for (const [what, value, code] of faults)
      test(`Requests: a fault at the end of a long body is refused, and nothing is written: ${what}`, async () => {
        const table = await store.table({ Value: 'Array' });
        const id = await store.create(table, { Value: ['a'] });
        const before = await store.snapshot(table);
        const headers = masterHeaders(store.service());
        for (const [method, at] of [
          ['POST', path(table)],
          ['PUT', path(table, id)],
        ] as const)
          assertRefused(await send(store.service(), { method, path: at, headers, body: `{"Value":${value}}` }), { code });
        assert.equal(await store.snapshot(table), before);
      });

    test('Requests: operators with long operands have the result that they have with short ones', async () => {
      const table = await store.table({ Value: 'Array' });
      const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);
      const operator = (__op: string, objects: unknown[]) => ({ Value: { __op, objects } });
      const id = await store.create(table, operator('AddUnique', [...numbers(0, 40_000), ...numbers(0, 10)]));
      const headers = masterHeaders(store.service());
      const change = async (body: object) => {
        const answer = await send(store.service(), { method: 'PUT', path: path(table, id), headers, body: JSON.stringify(body) });
        assert.equal(answer.status, 200, answer.text.slice(0, 200));
        return answer.body.Value;
      };
      assert.deepEqual(await change(operator('AddUnique', numbers(20_000, 40_000))), numbers(0, 60_000));
      assert.deepEqual(await change(operator('Remove', numbers(100, 50_000))), [...numbers(0, 100), ...numbers(50_100, 9_900)]);
    });

    // The name, which comes last, is invalid, so that only the reading takes long.
    const longest: readonly (readonly [what: string, value: () => string])[] = [
      ['a list of numbers', () => `[${values(2_300_000, '12345678')}]`],
      ['one string', () => `"${'\\u0041'.repeat(3_400_000)}"`],
      ['an object of lists', () => `{"a":{"b":[${values(370_000, `"${'x'.repeat(50)}"`)}]}}`],
    ];
    for (const [what, listOf] of longest)
      test(`Operations: /health/live is answered while 20 MB of JSON are read: ${what}`, async () => {
        const table = await store.table({ Name: 'String' });
        const body = Buffer.from(`{"list":${listOf()},"1x":1}`);
        assert.ok(body.length > 0.93 * BODY && body.length < BODY, String(body.length));
        const { url } = store.service();
        const headers = { ...masterHeaders(store.service()), 'Content-Length': String(body.length) };
        let isSent = false;
        let isDone = false;
        const asked = new Promise<string>((resolve, reject) => {
          const sent = request(url + path(table), { method: 'POST', agent: false, headers }, async (answer) => {
            isDone = true;
            resolve((await answer.setEncoding('utf8').toArray()).join(''));
          });
          sent.on('error', reject);
          sent.end(body, () => {
            isSent = true;
          });
        });
        let answered = 0;
        while (!isDone) {
          const isBegun = isSent;
          assert.equal((await fetch(`${url}/health/live`)).status, 200);
          if (isBegun && !isDone) answered++;
        }
        const text = await asked;
        assertRefused({ status: 400, text, body: JSON.parse(text) }, { code: 105 });
        // One or two may arrive before the parsing begins.
        assert.ok(answered > 3, `${answered} answers`);
      });
  });
