import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import { pino } from 'pino';
import { Conditions } from '../../observe/index.ts';
import { createRecord } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { rowContext } from '../../storage/sql/testing/addresses.ts';
import { ReaderPool } from '../../storage/sqlite/reads/reader-pool.ts';
import { SqliteStore } from '../../storage/sqlite/store.ts';
import type { Systems } from '../../systems/index.ts';
import { provision } from '../../systems/provision.ts';
import { PasswordResets, userTableRules } from '../../users/index.ts';
import { registerBodyReader } from '../endpoint/body-reader.ts';
import { parseQueryString } from '../endpoint/parse-request.ts';
import { pageHeaders } from '../pages/page.ts';
import { registerResetPage } from './reset-page.ts';

describe('the page of a password reset', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rds-page-'));
  let pool: ReaderPool;
  let store: SqliteStore;
  let server: FastifyInstance;
  let held = 0;
  let sent: (token: string) => void = () => {};
  let resets: PasswordResets;
  const log: string[] = [];

  before(async () => {
    pool = new ReaderPool(1_000, assert.fail);
    store = new SqliteStore(join(directory, 'records.sqlite'), { pool, report: assert.fail, ...rowContext });
    await provision(store);
    const context = masterContext(store, userTableRules);
    await createRecord(context, '_User', { username: 'dana', email: 'dana@example.com', password: 'Old-password-1' });
    resets = new PasswordResets({
      mailer: { send: async ({ text = '' }) => sent(/token=([\w-]+)$/m.exec(text)?.[1] ?? '') },
      addresses: { base: '' },
      log: pino({ level: 'silent' }),
    });
    server = fastify({ routerOptions: { querystringParser: parseQueryString as never } });
    registerBodyReader(server, { systems: { isKnown: () => true } as unknown as Systems });
    registerResetPage(server, {
      systems: { enter: async (appId) => (appId === 'lost' ? lost() : appId === 'app' ? system() : undefined) } as Systems,
      conditions: new Conditions(pino({ level: 'debug' }, { write: (line: string) => void log.push(line) })),
    });
    await server.ready();
  });
  after(async () => {
    await server.close();
    await store.close();
    await pool.close();
    rmSync(directory, { recursive: true });
    assert.equal(held, 0);
  });

  const lost = () => Promise.reject(new Error('no disk'));
  const system = () => {
    held++;
    return { appId: 'app', store, hold: () => void held++, release: () => void held-- } as never;
  };
  const newToken = () =>
    new Promise<string>((resolve) => {
      sent = resolve;
      resets.request(
        { appId: 'app', store, isClosing: false, isHeld: false, hold: () => {}, release: () => {} },
        { email: 'dana@example.com' },
      );
    });
  const open = (url: string) => server.inject({ method: 'GET', url });
  const submit = (fields: Record<string, string>, app = 'app') =>
    server.inject({
      method: 'POST',
      url: `/password-reset/${app}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(fields).toString(),
    });

  test('every page has the headers that keep the token to itself', async () => {
    const pages = [
      await open('/password-reset/app?token=x'),
      await open('/password-reset/unknown?token=x'),
      await open('/password-reset/lost?token=x'),
      await submit({ token: 'x', password: 'weak' }),
      await submit({ token: 'x', password: 'Good-password-1' }),
    ];
    assert.deepEqual(
      pages.map(({ statusCode }) => statusCode),
      [200, 404, 500, 400, 400],
    );
    for (const { headers, body } of pages) {
      for (const [name, value] of Object.entries(pageHeaders)) assert.equal(headers[name], value);
      assert.doesNotMatch(body, /<script|<link|<img|src=|https?:|\son\w+=/);
    }
  });

  test('the form shows its token and nothing about it, whatever the token is', async () => {
    const good = await newToken();
    const [one, two] = [
      await open(`/password-reset/app?token=${good}`),
      await open(`/password-reset/app?token=${'z'.repeat(32)}`),
    ];
    assert.equal(one.body.replaceAll(good, 'T'), two.body.replaceAll('z'.repeat(32), 'T'));
    const hostile = await open(`/password-reset/app?token=${encodeURIComponent(`"><script>alert('1')</script>&`)}`);
    assert.ok(hostile.body.includes('value="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;"'));
    assert.equal((await open('/password-reset/app')).statusCode, 200);
    assert.equal((await server.inject({ method: 'HEAD', url: '/password-reset/app?token=x' })).body, '');
  });

  test('opening uses nothing up; a weak password keeps the link; it works once', async () => {
    const token = await newToken();
    for (let n = 0; n < 3; n++) await open(`/password-reset/app?token=${token}`);
    const weak = await submit({ token, password: '<weak>' });
    assert.equal(weak.statusCode, 400);
    assert.ok(weak.body.includes('Password does not meet the Password Policy requirements.'));
    assert.ok(weak.body.includes(`value="${token}"`) && !weak.body.includes('weak&gt;'));
    const done = await submit({ token, password: 'New & better 1 סיסמה' });
    assert.deepEqual([done.statusCode, done.body.includes(token)], [200, false]);
    assert.equal((await submit({ token, password: 'New & better 1 סיסמה' })).statusCode, 400);
  });

  test('a form that is none', async () => {
    for (const payload of ['', '{"token":"x"}', '%', 'token&token=&password=%ff'])
      assert.equal((await server.inject({ method: 'POST', url: '/password-reset/app', payload })).statusCode, 400);
    assert.equal((await submit({ token: 'x', password: 'x'.repeat(40_000) })).statusCode, 413);
    assert.equal((await submit({ token: 'x', password: 'Good-password-1' }, '__proto__')).statusCode, 404);
  });

  test('no token is in the log', async () => {
    const token = await newToken();
    await open(`/password-reset/lost?token=${token}`);
    await submit({ token, password: 'Good-password-1' }, 'lost');
    assert.equal(log.length, 1);
    assert.ok(!log.join('').includes(token));
  });
});
