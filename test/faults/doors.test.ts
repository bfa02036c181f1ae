/** Every endpoint answers a passing fault in the same way. Reference: faults.md#passing-faults. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { TestProxy } from '../../src/storage/postgres/testing/proxy.ts';
import type { TestDatabase } from '../../src/storage/postgres/testing/server.ts';
import { Visitor } from '../support/console.ts';
import { makeDatabase } from '../support/data.ts';
import { upload } from '../support/files.ts';
import { callTool, masterHeaders } from '../support/mcp.ts';
import { path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { signUp } from '../support/users.ts';
import { UNAVAILABLE } from './answers.ts';
import { injector } from './preload/control.ts';

type Door = readonly [method: string, path: string, body?: unknown, headers?: Record<string, string>];

/** Endpoints that always write: a full disk refuses only these. */
const writing: ReadonlySet<string> = new Set([
  ...['create', 'create in a new table', 'update', 'delete', 'batch', 'make a schema', 'change a schema'],
  ...['sign up', 'logout', 'upload', 'upload in JSON', 'delete a file', 'a registration'],
  ...['a record of the console', 'sign-out of the console', 'an upload of the console'],
]);

interface Broken {
  readonly what: string;
  /** Starts a service. @returns functions that break its store, and that stop it */
  start(): Promise<{ service: ServiceProcess; breakIt(): void | Promise<void>; end(): Promise<void> } | null>;
  isMet(door: string): boolean;
}

const away: Broken = {
  what: 'database is away',
  async start() {
    const database: TestDatabase = await makeDatabase(true);
    const proxy = await TestProxy.before(database.url);
    const service = await startServiceProcess({ database: proxy });
    return {
      service,
      async breakIt() {
        proxy.refuse();
        proxy.cut();
        // Answers from caches are valid for half a second.
        await wait(600);
      },
      async end() {
        await service.stop();
        proxy.close();
        await database.drop();
      },
    };
  },
  isMet: () => true,
};

const full: Broken = {
  what: 'disk is full',
  async start() {
    const faults = injector();
    if (!faults) return null;
    const service = await startServiceProcess({ engine: 'sqlite', env: faults.env });
    return {
      service,
      breakIt: () => void faults.begin({ calls: ['write'], path: service.dataDir, error: 'ENOSPC' }),
      end: async () => void (await service.stop()),
    };
  },
  isMet: (door) => writing.has(door),
};

for (const broken of [...(engines.includes('postgres') ? [away] : []), ...(engines.includes('sqlite') ? [full] : [])])
  describe(`the doors of a service whose ${broken.what}`, { timeout: 120_000 }, () => {
    let started: Awaited<ReturnType<Broken['start']>>;
    let service: ServiceProcess;
    let session = '';
    let cookie = '';
    let id = '';
    let file = '';
    before(async () => {
      started = await broken.start();
      if (!started) return;
      ({ service } = started);
      const user = await signUp(service);
      session = user.token;
      const visitor = new Visitor(service);
      await visitor.signIn(user.username);
      cookie = [...visitor.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
      const made = await service.call('POST', path('Doors'), { body: { n: 1 } });
      const all = { requiresAuthentication: true };
      const classLevelPermissions = { find: all, get: all, count: all, create: all, update: all, delete: all };
      await service.call('PUT', '/platform/schemas/Doors', { body: { classLevelPermissions } });
      id = made.body.objectId;
      file = (await upload(service, 'a.txt', 'text', { as: 'master' })).body.name;
      // Loads the tools and creates the issuer.
      await callTool(service, masterHeaders(service), 'Get-Data', { table: 'Doors' });
      await fetch(`${service.url}/oauth/${service.appId}/jwks`);
      await started.breakIt();
    });
    after(() => started?.end());

    const ask = async ([method, at, body, headers = {}]: Door) => {
      const { appId, masterKey } = service;
      const keys = { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': masterKey };
      const isText = body === undefined || typeof body === 'string';
      const answer = await fetch(service.url + at, {
        method,
        headers: { ...keys, 'Content-Type': 'application/json', ...headers },
        redirect: 'manual',
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      });
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text: await answer.text() };
    };

    const ofConsole = (method: string, at: string, body?: unknown, type = 'application/json'): Door => {
      const headers = { 'X-Console': '1', 'Content-Type': type, Cookie: cookie };
      return [method, `/console/-/api/${service.appId}/${at}`, body, headers];
    };
    const consoleDoors: readonly (readonly [what: string, door: () => Door])[] = [
      ['sign-in at the console', () => ofConsole('POST', 'session', { username: 'a', password: 'b' })],
      ['the model of the console', () => ofConsole('GET', 'model')],
      ['rows of the console', () => ofConsole('GET', 'rows/Doors')],
      ['a count of the console', () => ofConsole('GET', 'count/Doors')],
      ['a search of the console', () => ofConsole('GET', 'search?q=a&tables=Doors')],
      ['a history of the console', () => ofConsole('GET', `history/Doors/${id}`)],
      ['what points at a record, of the console', () => ofConsole('GET', `related/Doors/${id}`)],
      ['changes for the console', () => ofConsole('GET', 'changes')],
      ['a record of the console', () => ofConsole('POST', 'records/Doors', { requestId: 'a', fields: { n: 1 } })],
      ['an upload of the console', () => ofConsole('POST', 'files/Doors/F?name=a.txt', 'text', 'text/plain')],
      ['sign-out of the console', () => ofConsole('DELETE', 'session')],
    ];
    const json: readonly (readonly [what: string, door: () => Door])[] = [
      ['create', () => ['POST', path('Doors'), { n: 2 }]],
      ['create in a new table', () => ['POST', path('NewDoors'), { n: 2 }]],
      ['read', () => ['GET', path('Doors', id)]],
      ['list', () => ['GET', path('Doors')]],
      ['list by _method', () => ['POST', path('Doors'), { _method: 'GET' }]],
      ['update', () => ['PUT', path('Doors', id), { n: 3 }]],
      ['delete', () => ['DELETE', path('Doors', id)]],
      [
        'batch',
        () => [
          'POST',
          '/platform/batch',
          { requests: [1, 2].map((n) => ({ method: 'POST', path: path('Doors'), body: { n } })) },
        ],
      ],
      ['aggregate', () => ['GET', '/platform/classes-aggregate/Doors?pipeline=[{"$group":{"_id":null}}]']],
      ['schemas', () => ['GET', '/platform/schemas']],
      ['make a schema', () => ['POST', '/platform/schemas/Other', { className: 'Other', fields: {} }]],
      ['change a schema', () => ['PUT', '/platform/schemas/Doors', { className: 'Doors', fields: { m: { type: 'Number' } } }]],
      ['delete a schema', () => ['DELETE', '/platform/schemas/Doors']],
      ['sign up', () => ['POST', '/platform/users', { username: 'new', password: 'Passw0rd!' }]],
      ['login', () => ['POST', '/platform/login', { username: 'a', password: 'b' }]],
      [
        'me',
        () => ['GET', '/platform/users/me', undefined, { 'X-Platform-Session-Token': session, 'X-Platform-Master-Key': '' }],
      ],
      [
        'a list of a session',
        () => ['GET', path('Doors'), undefined, { 'X-Platform-Session-Token': session, 'X-Platform-Master-Key': '' }],
      ],
      ['logout', () => ['POST', '/platform/logout', undefined, { 'X-Platform-Session-Token': session }]],
      ['a session', () => ['GET', '/platform/sessions/me', undefined, { 'X-Platform-Session-Token': session }]],
      ['upload', () => ['POST', '/platform/files/a.txt', 'text', { 'Content-Type': 'text/plain' }]],
      ['upload in JSON', () => ['POST', '/platform/files/a.txt', { base64: 'dGV4dA==', _ContentType: 'text/plain' }]],
      [
        'upload with credentials in the body',
        () => [
          'POST',
          '/platform/files/a.txt',
          { base64: 'dGV4dA==', _ApplicationId: service.appId },
          { 'X-Platform-Application-Id': '' },
        ],
      ],
      [
        'a form of a large upload',
        () => ['POST', '/platform/files/signed-url-put/a.txt', { ContentType: 'text/plain', ContentLength: 4 }],
      ],
      ['delete a file', () => ['DELETE', `/platform/files/${file}`]],
      ['a public file', () => ['GET', `/static/${service.appId}/${file}`]],
      ['an upload', () => ['GET', `/platform/files/${service.appId}/${file}`]],
      ['a private file', () => ['GET', `/platform/files/${service.appId}/${file}/Doors/${id}/F`]],
      [
        'a private file of a session',
        () => [
          'GET',
          `/platform/files/${service.appId}/${file}/Doors/${id}/F`,
          undefined,
          { 'X-Platform-Session-Token': session, 'X-Platform-Master-Key': '' },
        ],
      ],
      ['a lead', () => ['POST', `/functions/${service.appId}/getlead`, { phone: '0501234567' }]],
      ['a form', () => ['POST', `/functions/${service.appId}/web2table`, { table: 'Doors', n: 1 }]],
      ['a function', () => ['POST', '/platform/functions/none', {}]],
      [
        'a token',
        () => [
          'POST',
          `/oauth/${service.appId}/token`,
          'grant_type=refresh_token&refresh_token=x&client_id=y',
          { 'Content-Type': 'application/x-www-form-urlencoded' },
        ],
      ],
      ...consoleDoors,
      ['a registration', () => ['POST', `/oauth/${service.appId}/register`, { redirect_uris: ['https://client.test/back'] }]],
    ];
    for (const [what, door] of json.filter(([name]) => broken.isMet(name)))
      test(`503 with Retry-After: ${what}`, async (t) => {
        if (!started) return t.skip('no compiler');
        const { status, retryAfter, text } = await ask(door());
        // A request that needs no database may be answered as usual.
        if (what === 'a function') return assert.ok(status === 400 || status === 503, text);
        assert.deepEqual([status, text], [503, UNAVAILABLE]);
        assert.match(retryAfter ?? '', /^[1-9]\d*$/);
      });

    for (const [what, door] of [
      ['sign-in', () => `/oauth/${service.appId}/authorize?client_id=x&response_type=code`],
      ['the page of a sign-in', () => `/oauth/${service.appId}/interaction/abc`],
      ['the console', () => `/console/${service.appId}/`],
    ] as const)
      if (broken.isMet(what))
        test(`503 with Retry-After, as a page: ${what}`, async (t) => {
          if (!started) return t.skip('no compiler');
          const { status, retryAfter, text } = await ask(['GET', door(), undefined, { Accept: 'text/html', Cookie: cookie }]);
          assert.deepEqual([status, /^[1-9]\d*$/.test(retryAfter ?? '')], [503, true], text.slice(0, 300));
        });

    if (broken.isMet('a new password'))
      test('503 with Retry-After, as a page: a new password', async (t) => {
        if (!started) return t.skip('no compiler');
        const form = new URLSearchParams({ token: 'x'.repeat(32), password: 'Good-password-1' }).toString();
        const door: Door = [
          'POST',
          `/password-reset/${service.appId}`,
          form,
          { 'Content-Type': 'application/x-www-form-urlencoded' },
        ];
        const { status, retryAfter } = await ask(door);
        assert.deepEqual([status, /^[1-9]\d*$/.test(retryAfter ?? '')], [503, true]);
      });

    test('an agent is answered that nothing was done, or that the service is away', async (t) => {
      if (!started) return t.skip('no compiler');
      for (const [name, args] of [
        ...(broken.isMet('list') ? ([['Get-Data', { table: 'Doors' }]] as const) : []),
        ['Create-Record', { table: 'Doors', data: { n: 4 } }],
      ] as const) {
        const params = { name, arguments: args };
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
        const { status, retryAfter, text } = await ask(['POST', `/mcp/${service.appId}`, body]);
        assert.match(text, /the service is not available now/);
        if (status !== 200) assert.deepEqual([status, /^[1-9]\d*$/.test(retryAfter ?? '')], [503, true], text);
      }
    });

    test('nothing of it is in the log but conditions', (t) => {
      if (!started) return t.skip('no compiler');
      const lines = service
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line));
      const others = lines.filter(({ level, condition }) => level >= 50 && condition === undefined);
      assert.deepEqual(others, []);
      assert.ok(lines.length < 20, `${lines.length} lines`);
    });
  });
