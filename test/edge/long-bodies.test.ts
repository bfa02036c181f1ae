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

    test('Operations: /health/live is answered while 20 MB of JSON are read', async () => {
      const table = await store.table({ Name: 'String' });
      // The name, which comes last, is invalid, so that only the parsing takes long.
      const body = Buffer.from(`{"list":[${values(2_300_000, '12345678')}],"1x":1}`);
      assert.ok(body.length > 0.95 * BODY && body.length < BODY, String(body.length));
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
