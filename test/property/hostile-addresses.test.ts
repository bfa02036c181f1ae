/**
 * Property: whatever the parts of a request to any address contain, the answer is no fault, reveals no internals, and is the same on both engines;
 * the processes survive. `PROPERTY_RUNS` makes the search longer, `PROPERTY_SEED` repeats one.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ask } from '../support/files.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { sameForBoth } from './hostile/answers.ts';
import { hostileRequest, mayBe500, type RawRequest } from './hostile/requests.ts';

const RUNS = 250;
const inside =
  /SQLITE_|no such (?:table|column)|node:internal|\bat [\w.]+ \(|\.[jt]s:\d|\/src\/|\/tmp\/|relation "|column "|syntax error/;
const { PROPERTY_RUNS = '1', PROPERTY_SEED } = process.env;

describe('hostile addresses property', () => {
  let services: Service[] = [];
  const functions = mkdtempSync(join(tmpdir(), 'rds-hostile-'));
  before(async () => {
    writeFileSync(
      join(functions, 'echo.mjs'),
      `export default async ({ input: { table, id, where }, system }) => {
        const told = [];
        for (const work of [
          () => system.get(table, id),
          () => system.find(table, { where, limit: 1 }),
          () => system.count(table, where),
          () => system.update(table, id + String.fromCharCode(0), { Name: 'x' }),
          () => system.get(table, id + String.fromCharCode(0)),
          () => system.delete(table, String.fromCharCode(0) + id),
          () => system.config(id + String.fromCharCode(0)),
          () => system.create(table, { Name: 'a' + String.fromCharCode(0) }),
        ])
          told.push(await work().then((value) => typeof value, (error) => error.message));
        return told;
      };`,
    );
    const env = { FUNCTIONS_DIR: functions, BASE_URL: 'http://h', TRUST_PROXY: 'on' };
    services = await Promise.all(engines.map((engine) => startService({ engine, env })));
    for (const { call } of services) {
      const fields = { Name: { type: 'String' }, Text: { type: 'String' }, N: { type: 'Number' } };
      assert.equal((await call('POST', '/platform/schemas/Hostile', { body: { fields } })).status, 200);
      for (const flag of ['AcceptWebToTable', 'allowAllFiles'])
        assert.equal(
          (await call('POST', '/platform/classes/Config', { body: { Name: flag, Value: { [flag]: true } } })).status,
          201,
        );
    }
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
    rmSync(functions, { recursive: true });
  });

  const nobody = [404, 101];
  const record = (of: string): [string, string, string?, (readonly [number, number | undefined])?] => [
    'GET',
    `/platform/${of}/a%00b`,
  ];
  for (const [method, path, body, expected = nobody] of [
    ...['classes/Accounts', 'classes/Hostile', 'users', 'roles', 'sessions', 'classes/_Trigger', 'classes/_Timeline'].map(record),
    ['GET', '/platform/classes/Accounts/%00?include=StatusId'],
    ['PUT', '/platform/classes/Accounts/a%00b', '{"Name":"x"}'],
    ['PUT', '/platform/classes/Accounts/a%00b', '{"N":{"__op":"Increment","amount":1}}'],
    ['DELETE', '/platform/classes/Accounts/a%00b'],
    ['DELETE', '/platform/users/a%00b'],
    ['GET', '/platform/login?username=a%00b&password=Wrong1Pass'],
    ['GET', '/platform/files/testapp/x/Accounts/a%00b/Name', undefined, [404, undefined]],
    ['GET', '/platform/files/testapp/a%00b', undefined, [404, undefined]],
    ['GET', '/static/testapp/a%00b', undefined, [404, undefined]],
  ] as [string, string, string?, (readonly [number, number | undefined])?][])
    test(`a text that no record can hold is one that nobody has: ${method} ${path} ${body ?? ''}`, async () => {
      for (const { url } of services) {
        const headers = { 'X-Platform-Application-Id': 'testapp', 'X-Platform-Master-Key': 'test-master-key' };
        const answer = await ask(`${url}${path}`, { method, headers, ...(body !== undefined && { body }) });
        assert.deepEqual([answer.status, answer.body?.code], expected, answer.text);
      }
    });

  let sent = 0;
  /** Gives each request its own client address, because wrong keys are counted by address. */
  const headersOf = ({ headers }: RawRequest) => ({
    ...headers,
    'X-Forwarded-For': `10.${(sent >> 12) & 255}.${(sent >> 4) & 255}.1`,
  });

  /** Returns what is wrong with the answers to a request, or `null`. */
  async function wrongWith(request: RawRequest): Promise<string | null> {
    sent++;
    const { method, path, body } = request;
    const answers = await Promise.all(
      services.map(({ url }) =>
        ask(`${url}${path}`, { method, headers: headersOf(request), ...(body !== undefined && { body }) }),
      ),
    );
    for (const [at, { status, text }] of answers.entries()) {
      const isDocumented = mayBe500(request) && status === 500 && text.startsWith('{"code":1,"error":"server error');
      if (status >= 500 && !isDocumented) return `${engines[at]} answered ${status} ${text.slice(0, 500)}`;
      if (inside.test(text) && !inside.test(decodeURI(encodeURI(path)) + body))
        return `${engines[at]} shows ${text.slice(0, 500)}`;
    }
    return sameForBoth(answers, request);
  }

  test('no address answers with a fault, and both engines answer alike', {
    timeout: 600_000 * Number(PROPERTY_RUNS),
  }, async () => {
    const seed = PROPERTY_SEED ? Number(PROPERTY_SEED) : randomInt(2 ** 31);
    const wrong = new Map<string, string>();
    for (const request of fc.sample(hostileRequest, { seed, numRuns: RUNS * Number(PROPERTY_RUNS) })) {
      const found = await wrongWith(request).catch((error: Error) => `the connection: ${error.message}`);
      const kind = `${request.from} ${found?.slice(0, 40)}`;
      if (found !== null && !wrong.has(kind))
        wrong.set(kind, `${request.method} ${request.path}\n  ${JSON.stringify(request.headers)}\n  ${request.body}\n  ${found}`);
    }
    assert.equal(wrong.size, 0, `with PROPERTY_SEED=${seed}:\n${[...wrong.values()].slice(0, 40).join('\n')}`);
  });
});
