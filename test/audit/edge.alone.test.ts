/** What rows record of the way a request arrived, what they never contain, and how long they are kept. Reference: audit.md#request-log. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeData, type OwnData } from '../support/data.ts';
import { path, unique } from '../support/records.ts';
import { anyEngine, engines } from '../support/service.ts';
import { type ProcessOptions, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { storedIn } from '../support/stored.ts';
import { password, signUp } from '../support/users.ts';
import { logOf, Marked } from './log.ts';

async function withService(options: ProcessOptions, work: (service: ServiceProcess) => Promise<void>): Promise<void> {
  const service = await startServiceProcess(options);
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}

/** By the setting: the recorded country, address, and whether the address is trusted. */
const byTrust = {
  off: [undefined, '127.0.0.1', true],
  on: ['IL', '203.0.113.9', false],
  loopback: ['IL', '203.0.113.9', false],
  '10.0.0.0/8': [undefined, '127.0.0.1', true],
} as const;
type Trust = keyof typeof byTrust;

async function assertOrigin(service: ServiceProcess, trust: Trust): Promise<void> {
  const client = new Marked(service);
  const headers = { 'X-Forwarded-For': '203.0.113.9', 'CF-IPCountry': 'IL' };
  await client.asMaster({ path: path('T'), body: {}, headers });
  const row = await client.row();
  assert.deepEqual([row.country, row.ip, row.trustedIP], byTrust[trust]);
  const other = new Marked(service);
  await other.asMaster({ path: path('T'), body: {}, headers: { ...headers, 'CF-IPCountry': 'Israel' } });
  assert.equal((await other.row()).country, undefined, 'a country has two letters');
}
const named = (trust: Trust): string => `ip, trustedIP and country with TRUST_PROXY=${trust}`;
const env = (trust: Trust) => ({ env: { TRUST_PROXY: trust } });

for (const engine of engines)
  describe(`request log at the edge (${engine})`, () => {
    for (const trust of ['off', '10.0.0.0/8'] as const)
      if (anyEngine.includes(engine))
        test(named(trust), () => withService({ engine, ...env(trust) }, (service) => assertOrigin(service, trust)));

    let service: ServiceProcess;
    let data: OwnData;
    before(async () => {
      data = await makeData(engine);
      service = await startServiceProcess({ ...data, ...env('on') });
    });
    after(async () => {
      await service.stop();
      await data.remove();
    });

    test(named('on'), () => assertOrigin(service, 'on'));

    test('long texts are cut: path 1,000, referer 1,000, userAgent 500 characters', async () => {
      const table = unique('T');
      const long = 'x'.repeat(5_000);
      const headers = { 'User-Agent': `${table}${long}`, Referer: `https://a/${long}` };
      await new Marked(service).asMaster({ path: `${path(table)}/${long}`, headers });
      await new Marked(service).rows();
      const [row] = await logOf(service, { userAgent: { $regex: `^${table}` } });
      assert.deepEqual([row.path.length, row.referer.length, row.userAgent.length], [1000, 1000, 500]);
    });

    test('no secret is in any row, nor in clear text in DATA_DIR', async () => {
      const client = new Marked(service);
      const user = await signUp({ call: service.call });
      const secrets = Array.from({ length: 12 }, () => unique('Secret1-'));
      const [inBody, inQuery, inReferer, inName, authorization, cookie, key, nested] = secrets;
      const [fragment, last, deep, token] = secrets.slice(8);
      const referer = `https://user:${inName}@crm.example/x?id=5&Access_Token=${inReferer}&next=${encodeURIComponent(`/y?code=${deep}`)}#session=${fragment}`;
      const headers = { Referer: referer, Authorization: `Bearer ${authorization}`, Cookie: `session=${cookie}` };
      const names = { username: user.username, password: inBody, nested: { apiKey: nested } };
      for (const at of ['/platform/login', path('T'), '/platform/batch', '/platform/nothing'])
        for (const body of [names, JSON.stringify(names).slice(0, -1)])
          await client.ask({ path: `${at}?password=${inQuery}&token=${token}`, body, headers });
      await client.ask({ method: 'GET', path: `/platform/login?username=${user.username}&password=${inQuery}`, headers });
      await client.ask({ path: path('T'), body: {}, headers: { 'X-Platform-API-Key': key ?? '' } });
      await client.ask({ path: '/platform/login', body: { username: user.username, password }, headers });
      await client.ask({ path: path('T'), body: { _SessionToken: user.token, n: 1 } });
      await client.ask({ path: '/platform/logout', headers: { 'X-Platform-Session-Token': user.token } });
      await client.ask({ path: path('T'), body: { _MasterKey: service.masterKey, n: 1 } });
      await client.ask({
        path: path('T'),
        body: { _apiKey: service.apiKey, note: 'x' },
        headers: { Referer: `/?a=b;key=${last}` },
      });
      const lost = { 'User-Agent': `curl ${service.apiKey}`, 'X-Platform-API-Key': service.apiKey };
      await client.ask({ method: 'DELETE', path: `/platform/sessions/${user.token}`, headers: lost });
      await client.ask({ path: `/platform/login;password=${password}`, body: {}, headers: { Referer: `/?at=${user.token}` } });
      const rows = await client.rows();
      // One of them claims to be another client.
      assert.equal(rows.length, 15);
      const text = JSON.stringify(await logOf(service));
      const files = await storedIn(service);
      for (const secret of [...secrets, service.masterKey, service.apiKey, user.token, password]) {
        assert.ok(!text.includes(secret), `a row holds ${secret}`);
        for (const { path: file, bytes } of files) assert.ok(!bytes.includes(secret), `${file} holds ${secret}`);
      }
      const [{ referer: kept }] = rows;
      assert.equal(kept, 'https://crm.example/x?id=5&Access_Token=***&next=***#session=***');
    });

    test('rows survive SIGTERM, the last ones too', async () => {
      const client = new Marked(service);
      await Promise.all(Array.from({ length: 30 }, (_, n) => client.asMaster({ path: path('T'), body: { n } })));
      assert.equal(await service.stop(), 0);
      service = await startServiceProcess({ ...data, ...env('loopback') });
      assert.equal((await logOf(service, { userAgent: client.mark, path: path('T') })).length, 30);
    });

    test(named('loopback'), () => assertOrigin(service, 'loopback'));
  });
