/**
 * Property: whatever JSON is sent, the answer is not a fault of the service, the process survives, and an unrelated record stays unchanged. The
 * documented 500s (an invalid `where`, `$text`) are allowed. Reference: errors.md#codes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type Answer, type Service, sampledEngines, startService } from '../support/service.ts';
import { anyJson, anyObject, anyText } from './json-text.ts';
import { settings } from './settings.ts';

// A new table now and then keeps the number of columns low.
const runsPerTable = 40;
const words = '(?:SQLITE_|\\bSELECT |\\bINSERT INTO|no such (?:table|column)|node:internal|\\bat [\\w.]+ \\(|\\.ts:\\d)';
const inside = new RegExp(words);

for (const engine of sampledEngines())
  describe(`hostile input property (${engine})`, () => {
    let service: Service;
    let sentinel = '';
    let untouched = '';
    before(async () => {
      service = await startService({ engine });
      const body = {
        text: 'unchanged',
        number: 42,
        list: [1, 'two', { three: 3 }],
        on: { __type: 'Date', iso: '2024-02-29T12:00:00.000Z' },
      };
      const created = await service.call('POST', '/platform/classes/Sentinel', { body });
      assert.equal(created.status, 201, created.text);
      sentinel = `/platform/classes/Sentinel/${created.body.objectId}`;
      untouched = (await service.call('GET', sentinel)).text;
    });
    after(() => service.stop());

    let runs = 0;
    const table = () => `Fuzz${Math.floor(runs / runsPerTable)}`;

    async function unharmed(): Promise<void> {
      runs++;
      const answer = await service.call('GET', sentinel);
      assert.equal(answer.text, untouched, 'the record elsewhere has changed');
    }

    test('Errors: no body of a create or an update is answered with a 500', { timeout: 120_000 }, async () => {
      const tables = ['Config', '_User', '_Role', '_Session', '_Dictionary', '_Timeline'];
      const property = fc.asyncProperty(anyText, fc.constantFrom('', ...tables), async (body, system) => {
        const at = `/platform/classes/${system || table()}`;
        const created = await send(service, 'POST', at, body);
        const { objectId } = created.status === 201 ? created.body : { objectId: 'missing' };
        // An objectId of the caller may be any text, but not every text can be part of an address.
        const id = typeof objectId === 'string' && /^\w+$/.test(objectId) ? objectId : 'missing';
        await send(service, 'PUT', `${at}/${id}`, body);
        await send(service, 'GET', `${at}/${id}`);
        await send(service, 'GET', `${at}?limit=5`);
        await unharmed();
      });
      await fc.assert(property, settings(125));
    });

    test('Errors: no where is answered with a 500, but for the documented ones', { timeout: 120_000 }, async () => {
      await send(service, 'POST', '/platform/classes/FuzzRead', '{"a":1,"b":"x","arr":[1,"a"],"obj":{"a":1}}');
      const property = fc.asyncProperty(
        anyText,
        fc.constantFrom('FuzzRead', '_User', 'Config', 'Missing'),
        async (where, name) => {
          const documented = !isObject(where) || where.includes('$text');
          await send(
            service,
            'GET',
            `/platform/classes/${name}?count=1&where=${encodeURIComponent(wellFormed(where))}`,
            undefined,
            documented,
          );
          await unharmed();
        },
      );
      await fc.assert(property, settings(200));
    });

    test('Errors: no query parameter is answered with a 500', { timeout: 120_000 }, async () => {
      const names = ['limit', 'skip', 'order', 'keys', 'excludeKeys', 'include', 'count', 'distinct', 'pipeline', 'group', 'x'];
      const parameter = fc.tuple(fc.constantFrom(...names), fc.oneof(anyJson, fc.string({ unit: 'binary', maxLength: 12 })));
      const property = fc.asyncProperty(fc.array(parameter, { minLength: 1, maxLength: 3 }), async (pairs) => {
        const query = pairs.map(([name, text]) => `${name}=${encodeURIComponent(wellFormed(text))}`).join('&');
        await send(service, 'GET', `/platform/classes/FuzzRead?${query}`);
        await send(service, 'GET', `/platform/classes-aggregate/FuzzRead?${query}`);
        await unharmed();
      });
      await fc.assert(property, settings(100));
    });

    test('Batch: no batch is answered with a 500', { timeout: 120_000 }, async () => {
      const path = fc.constantFrom('Fuzz', 'Config', '_Role', 'FuzzRead/missing').map((name) => `/platform/classes/${name}`);
      const item = fc
        .tuple(fc.constantFrom('POST', 'PUT', 'DELETE', 'GET'), path, anyJson)
        .map(([method, at, body]) => `{"method":"${method}","path":"${at}","body":${body}}`);
      const batch = fc.oneof(
        { weight: 4, arbitrary: fc.array(item, { maxLength: 4 }).map((items) => `{"requests":[${items.join(',')}]}`) },
        { weight: 1, arbitrary: anyJson.map((requests) => `{"requests":${requests}}`) },
        { weight: 1, arbitrary: anyText },
      );
      const property = fc.asyncProperty(batch, async (body) => {
        await send(service, 'POST', '/platform/batch', body);
        await unharmed();
      });
      await fc.assert(property, settings(100));
    });

    test('Schemas: no schema body and no name is answered with a 500', { timeout: 120_000 }, async () => {
      const parts = fc.tuple(anyJson, anyObject, anyObject, anyJson);
      const shaped = parts.map(
        ([type, permissions, indexes, textIndex]) =>
          `{"fields":{"f":{"type":${type}},"a":${type}},"classLevelPermissions":${permissions},"indexes":${indexes},"textIndex":${textIndex}}`,
      );
      const name = fc.oneof(fc.constant(''), fc.string({ unit: 'binary', minLength: 1, maxLength: 10 }));
      const property = fc.asyncProperty(fc.oneof(shaped, anyText), name, async (body, drawn) => {
        const at = `/platform/schemas/${drawn ? encodeURIComponent(wellFormed(drawn)) : table()}`;
        await send(service, 'POST', at, body);
        await send(service, 'PUT', at, body);
        await send(service, 'GET', at);
        await unharmed();
      });
      await fc.assert(property, settings(75));
    });
  });

async function send(service: Service, method: string, path: string, body?: string, allow500 = false): Promise<Answer> {
  const answer = await service.call(method, path, body === undefined ? {} : { body });
  const shown = `${method} ${path} ${body ?? ''}\nanswered ${answer.status} ${answer.text.slice(0, 2000)}`;
  if (!allow500) assert.ok(answer.status < 500, shown);
  // An error may repeat the request's text, but may not reveal internals of the service.
  if (answer.status >= 400 && !inside.test(body ?? '')) assert.doesNotMatch(answer.text, inside, shown);
  return answer;
}

/** Lone surrogates have no percent-encoding. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
