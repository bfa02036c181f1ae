/** Reference: metrics.md. What is counted, by which labels, who may read it, and that clients add no series. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { mails } from '../automation/effects.ts';
import { Visitor } from '../support/console.ts';
import { path, send, unique } from '../support/records.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { type Smtp, startSmtp } from '../support/smtp.ts';
import { soon } from '../support/soon.ts';
import { type Families, familiesOf, samplesOf, sumOfSamples } from './text.ts';

const token = 'the-token-of-the-metrics';
const text = 'text/plain; version=0.0.4; charset=utf-8';
const openMetrics = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The metrics of the interface, with their types and labels. */
const wanted: Readonly<Record<string, readonly [type: string, ...labels: string[]]>> = {
  rds_requests_total: ['counter', 'route', 'method', 'status'],
  rds_request_seconds: ['histogram', 'route'],
  rds_commit_seconds: ['histogram'],
  rds_commit_writes: ['histogram'],
  rds_reads_running: ['gauge', 'lane'],
  rds_read_wait_seconds: ['histogram'],
  rds_queue_jobs: ['gauge', 'kind', 'state'],
  rds_queue_oldest_seconds: ['gauge'],
  rds_mail_total: ['counter', 'outcome'],
  rds_logins_total: ['counter', 'outcome'],
  rds_function_seconds: ['histogram', 'function'],
  rds_systems: ['gauge', 'state'],
  rds_store_bytes: ['gauge', 'system'],
  rds_backup_age_seconds: ['gauge'],
  rds_database_connections: ['gauge', 'state'],
};

for (const engine of engines)
  describe(engine, () => {
    const directory = mkdtempSync(join(tmpdir(), 'rds-test-metrics-'));
    let service: Service;
    let smtp: Smtp;
    before(async () => {
      smtp = await startSmtp({ answerTo: (address) => (address.startsWith('later') ? 'refuse-for-now' : undefined) });
      mkdirSync(join(directory, 'backups'));
      writeFileSync(join(directory, 'echo.js'), 'export default { run: async () => 1 };');
      const env = {
        ...{ METRICS_TOKEN: token, METRICS_PORT: '0', LOG_LEVEL: 'info', SMTP_URL: smtp.url },
        ...{ FUNCTIONS_DIR: directory, BACKUP_URL: join(directory, 'backups') },
      };
      service = await startService({ engine, env });
    });
    after(async () => {
      await service.stop();
      await smtp.close();
      rmSync(directory, { recursive: true, force: true });
    });

    const scrape = (headers: Record<string, string> = {}, at = `${service.url}/metrics`) =>
      fetch(at, { headers: { authorization: `Bearer ${token}`, ...headers } });
    const read = async (): Promise<Families> => familiesOf(await (await scrape()).text());
    /** Waits until counts have grown by the given numbers since an earlier reading. */
    const grown = (since: Families, counts: readonly (readonly [string, Record<string, string>, number])[]) =>
      soon(async () => {
        const now = await read();
        for (const [name, labels, by] of counts)
          assert.equal(
            sumOfSamples(now, name, labels) - sumOfSamples(since, name, labels),
            by,
            `${name} ${JSON.stringify(labels)}`,
          );
      }, 5_000);

    test('jobs of the queue are counted before the first scrape, with the age of what may run', async () => {
      const table = unique('T');
      await service.call('POST', `/platform/schemas/${table}`, {
        body: { className: table, fields: { Email: { type: 'String' } } },
      });
      const actions = [mails('{{Email}}')];
      const trigger = { Name: unique('t'), table, events: ['create'], actions };
      const defined = await service.call('POST', path('_Trigger'), { body: trigger });
      assert.equal(defined.status, 201, defined.text);
      await service.call('POST', path(table), { body: { Email: 'later@example.com' } });
      await soon(async () => assert.ok(smtp.tried() > 0), 10_000);
      // On a busy machine the first scrape may not wait for the count.
      await soon(async () => {
        const families = await read();
        assert.equal(sumOfSamples(families, 'rds_queue_jobs', { kind: 'mail' }), 1);
        assert.equal(samplesOf(families, 'rds_queue_oldest_seconds').length, 1);
        assert.ok(sumOfSamples(families, 'rds_mail_total', { outcome: 'deferred' }) >= 1);
      }, 10_000);
    });

    test('both formats are well-formed, have every metric with its labels, and those of Node', async () => {
      for (const [accept, type, isOpenMetrics] of [
        ['*/*', text, false],
        ['text/plain;version=0.0.4;q=0.5, application/openmetrics-text;version=1.0.0;q=0.8', openMetrics, true],
        ['application/openmetrics-text;q=0.1, text/plain', text, false],
        ['application/openmetrics-text;q=0', text, false],
      ] as const) {
        const answer = await scrape({ accept });
        assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type], accept);
        const families = familiesOf(await answer.text(), isOpenMetrics);
        for (const [name, [kind, ...labels]] of Object.entries(wanted)) {
          const family = families.get(isOpenMetrics ? name.replace(/_total$/, '') : name);
          assert.equal(family?.type, kind, name);
          for (const { labels: given } of family.samples)
            assert.deepEqual(
              Object.keys(given).filter((label) => label !== 'le'),
              labels,
              name,
            );
        }
        const own = [...families.keys()].filter((name) => name.startsWith('rds_'));
        assert.equal(own.length, Object.keys(wanted).length, String(own));
        for (const name of ['process_resident_memory_bytes', 'process_start_time_seconds', 'nodejs_eventloop_lag_seconds'])
          assert.equal(families.get(name)?.samples.length, 1, name);
      }
    });

    test('requests are counted by route, method and status, at every door', async () => {
      const since = await read();
      const record = await service.call('POST', path('Accounts'), { body: { Name: 'a' } });
      for (let n = 0; n < 3; n++) await service.call('GET', path('Accounts', record.body.objectId));
      await service.call('GET', path('Accounts', 'missing'));
      await service.call('POST', '/platform/files/a.txt', { body: 'text', headers: { 'Content-Type': 'text/plain' } });
      await fetch(`${service.url}/functions/${service.appId}/nonesuch`, { method: 'POST' });
      await fetch(`${service.url}/mcp/${service.appId}`, { method: 'POST', body: '{}' });
      await fetch(`${service.url}/.well-known/oauth-authorization-server/oauth/${service.appId}`);
      await fetch(`${service.url}/console/-/api/${service.appId}/rows/Accounts`);
      await fetch(`${service.url}/nowhere`, { method: 'PATCH' });
      await fetch(`${service.url}/%zz`);
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write('no request\r\n\r\n'));
        socket.on('close', () => resolve()).resume();
      });
      const one = '/platform/classes/:className/:objectId';
      await grown(since, [
        ['rds_requests_total', { route: '/platform/classes/:className', method: 'POST', status: '201' }, 1],
        ['rds_requests_total', { route: one, method: 'GET', status: '200' }, 3],
        ['rds_requests_total', { route: one, method: 'GET', status: '404' }, 1],
        ['rds_request_seconds_count', { route: one }, 4],
        ['rds_requests_total', { route: '/platform/files/:fileName', method: 'POST', status: '201' }, 1],
        ['rds_requests_total', { route: '/functions/:appId/:name', method: 'POST', status: '400' }, 1],
        ['rds_requests_total', { route: '/mcp/:appId', method: 'POST' }, 1],
        ['rds_requests_total', { route: 'unknown', method: 'PATCH', status: '404' }, 1],
        ['rds_requests_total', { route: 'unknown', method: 'GET', status: '400' }, 1],
        ['rds_requests_total', { route: 'unknown', method: 'other', status: '400' }, 1],
      ]);
      const routes = new Set(samplesOf(await read(), 'rds_requests_total').map(({ labels }) => labels.route));
      assert.ok(
        [...routes].some((route) => route?.startsWith('/.well-known/oauth-authorization-server')),
        String([...routes]),
      );
      assert.ok(
        [...routes].some((route) => route?.startsWith('/console/-/api/')),
        String([...routes]),
      );
    });

    test('a client that leaves before its answer is counted as 499', async () => {
      const since = await read();
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      // The rest of the body never comes.
      socket.write(`POST ${path('Accounts')} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{`, () =>
        setTimeout(() => socket.destroy(), 50),
      );
      await grown(since, [['rds_requests_total', { route: '/platform/classes/:className', status: '499' }, 1]]);
    });

    test('commits, sign-ins, mail and calls of functions are counted', async () => {
      const email = `${unique('u')}@example.com`;
      const password = 'Some1Password';
      const since = await read();
      await service.call('POST', '/platform/users', { body: { username: email, email, password } });
      const logIn = (body: object) => service.call('POST', '/platform/login', { as: 'anonymous', body });
      assert.equal((await logIn({ username: email, password })).status, 200);
      await logIn({ username: email, password: 'Wrong1Password' });
      await logIn({ username: unique('nobody'), password });
      await new Visitor(service).signIn(email, password);
      await service.call('POST', '/platform/requestPasswordReset', { as: 'anonymous', body: { email } });
      for (const name of ['echo', 'getlead', 'getlead'])
        await fetch(`${service.url}/functions/${service.appId}/${name}`, { method: 'POST', body: '{}' });
      await grown(since, [
        ['rds_logins_total', { outcome: 'success' }, 2],
        ['rds_logins_total', { outcome: 'refused' }, 2],
        ['rds_mail_total', { outcome: 'sent' }, 1],
        ['rds_function_seconds_count', { function: 'echo' }, 1],
        ['rds_function_seconds_count', { function: 'getlead' }, 2],
      ]);
      const now = await read();
      const writes = sumOfSamples(now, 'rds_commit_writes_sum') - sumOfSamples(since, 'rds_commit_writes_sum');
      // The user, two sessions, the failed attempt; rows of the request log beside them.
      assert.ok(writes >= 4, String(writes));
      assert.equal(sumOfSamples(now, 'rds_commit_seconds_count'), sumOfSamples(now, 'rds_commit_writes_count'));
    });

    test('systems, sizes, backups and connections', async () => {
      await soon(async () => {
        const families = await read();
        const states = Object.fromEntries(samplesOf(families, 'rds_systems').map(({ labels, value }) => [labels.state, value]));
        assert.deepEqual(states, { open: 1, closed: 0, held: 0, removed: 0 });
        assert.ok(sumOfSamples(families, 'rds_store_bytes', { system: service.appId }) > 10_000);
        const age = samplesOf(families, 'rds_backup_age_seconds')[0]?.value ?? -1;
        assert.ok(age >= 0 && age < 3_600, String(age));
      });
      const families = await read();
      const lanes = samplesOf(families, 'rds_reads_running').map(({ labels }) => labels.lane);
      assert.deepEqual(lanes, engine === 'sqlite' ? ['thread'] : ['shared', 'exclusive']);
      const connections = samplesOf(families, 'rds_database_connections');
      assert.equal(connections.length, engine === 'sqlite' ? 0 : 2);
      if (engine === 'postgres') assert.ok(sumOfSamples(families, 'rds_database_connections') > 0);
    });

    test('clients add no series, and nothing that they send is in the text', async () => {
      const mark = unique('mark');
      const call = (method: string, at: string) => send(service, { method, path: at }).catch(() => undefined);
      const attack = async (n: number) => {
        await Promise.all([
          call('GET', `/${mark}${n}`),
          call('GET', `/platform/classes/${mark}${n}`),
          call('GET', `/platform/classes/${mark}/${mark}${n}`),
          call('POST', `/functions/${service.appId}/${mark}${n}`),
          call('POST', `/functions/${mark}${n}/getlead`),
          call('GET', `/console/${mark}${n}`),
          call('GET', `/static/${mark}${n}`),
          call(['PROPFIND', 'SEARCH', 'M-SEARCH', 'LINK'][n % 4] as string, `/${mark}${n}`),
          service.call('POST', '/platform/login', { body: { username: `${mark}${n}`, password: 'x' } }),
        ]);
      };
      const before = await read();
      for (let n = 0; n < 4; n++) await attack(n);
      await grown(before, [['rds_logins_total', { outcome: 'refused' }, 4]]);
      /** Names with the labels that tell series of a name apart, without the status, which depends on load. */
      const seriesOf = (families: Families) => {
        const own = [...families].filter(([name]) => name.startsWith('rds_')).flatMap(([, { samples }]) => samples);
        return [...new Set(own.map(({ name, labels: { status: _, ...labels } }) => `${name} ${JSON.stringify(labels)}`))].sort();
      };
      const first = seriesOf(await read());
      for (let n = 4; n < 40; n++) await attack(n);
      await grown(before, [['rds_logins_total', { outcome: 'refused' }, 40]]);
      const answer = await (await scrape()).text();
      assert.deepEqual(seriesOf(familiesOf(answer)), first);
      for (const secret of [mark, token, service.masterKey, service.apiKey, 'example.com'])
        assert.ok(!answer.includes(secret), secret);
    });

    test('without the token, or with another one: 401; the token is in no log', async () => {
      const rejected = [
        '',
        'Bearer',
        'Bearer x',
        `Bearer ${token}x`,
        `Bearer ${token.slice(0, -1)}X`,
        `Basic ${btoa(`a:${token}`)}`,
        token,
      ];
      for (const authorization of rejected) {
        const answer = await scrape({ authorization });
        assert.deepEqual(
          [answer.status, await answer.json()],
          [401, { error: 'unauthorized: METRICS_TOKEN is required' }],
          authorization,
        );
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer realm="metrics"');
      }
      const master = await service.call('GET', '/metrics');
      assert.equal(master.status, 401);
      assert.ok(!service.output().includes(token));
    });

    test('the listener of METRICS_PORT serves the metrics without a token, and nothing else', async () => {
      const [, address = ''] = /"address":"(http:[^"]*\/metrics)","msg":"metrics are served"/.exec(service.output()) ?? [];
      assert.equal(new URL(address).hostname, '127.0.0.1');
      const answer = await fetch(address);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, text]);
      assert.ok(familiesOf(await answer.text()).has('rds_requests_total'));
      assert.deepEqual(await (await fetch(address, { method: 'HEAD' })).text(), '');
      for (const [method, at] of [
        ['GET', '/platform/schemas'],
        ['GET', '/'],
        ['POST', '/metrics'],
        ['GET', '/metrics/'],
      ] as const)
        assert.equal((await fetch(new URL(at, address), { method })).status, 404, `${method} ${at}`);
      assert.equal((await fetch(`${address}?a=b`)).status, 200);
    });
  });

test('without METRICS_TOKEN the main port has no such address', async () => {
  const service = await startService({ engine: 'sqlite' });
  const [metrics, other] = await Promise.all(['/metrics', '/metrix'].map((at) => service.call('GET', at)));
  assert.deepEqual([metrics?.status, metrics?.text], [404, other?.text]);
  await service.stop();
});
