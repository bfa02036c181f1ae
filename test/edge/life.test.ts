/** Start, stop, start again, settings that stop the start, and generated credentials. Reference: operations.md#start-and-stop. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { dataForTest, makeData, type OwnData } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { create, createMany, find, tableName } from '../support/query.ts';
import { anyEngine, engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { makeLong } from './long.ts';
import { runToEnd, startBare, temporary } from './process.ts';

/** Sends a part of a POST. @returns sends the rest, and returns the status */
function slowPost(url: string, path: string, headers: Record<string, string>, body: string) {
  const { hostname, port } = new URL(url);
  const sent = request({
    hostname,
    port,
    path,
    method: 'POST',
    headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
  });
  const response = once(sent, 'response');
  sent.write(body.slice(0, 5));
  return async () => {
    sent.end(body.slice(5));
    const [answer] = (await response) as [{ statusCode?: number; resume(): void }];
    answer.resume();
    return answer.statusCode;
  };
}

/** Parses the log lines in the output of a service. */
function logLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

for (const engine of engines)
  describe(engine, () => {
    let data: OwnData;
    let running: ServiceProcess | undefined;
    before(async () => {
      data = await makeData(engine);
    });
    after(async () => {
      await running?.stop();
      await data.remove();
    });

    /** Returns the service of the test before, or starts one on its data if that has ended. */
    const serving = async (env: Record<string, string> = {}): Promise<ServiceProcess> => {
      if (!running || running.process.exitCode !== null || running.process.signalCode !== null)
        running = await startServiceProcess({ ...data, env });
      return running;
    };
    const keysOf = ({ appId, masterKey }: ServiceProcess) => ({
      'X-Platform-Application-Id': appId,
      'X-Platform-Master-Key': masterKey,
    });
    const numbersIn = async (table: string) =>
      (await find(await serving(), table, { limit: 5_000 })).map(({ n }) => n as number).sort((one, other) => one - other);

    // Signals and engines are independent; the tests below end services by SIGTERM on both engines.
    const signals =
      engines.length === 1
        ? (['SIGTERM', 'SIGINT'] as const)
        : [engine === 'sqlite' ? ('SIGTERM' as const) : ('SIGINT' as const)];
    for (const signal of signals)
      test(`Running: ${signal} finishes the requests in flight, flushes, and exits 0`, async () => {
        const table = tableName('Kept');
        const service = await serving();
        await create(service, table, { n: 1 });
        const headers = { ...keysOf(service), 'Content-Type': 'application/json' };
        const finish = slowPost(service.url, `/platform/classes/${table}`, headers, '{"n":2}');
        await wait(200);
        const exited = once(service.process, 'exit');
        service.process.kill(signal);
        await wait(200);
        assert.equal(service.process.exitCode, null, 'it waits for the request');
        assert.equal(await finish(), 201);
        const [code] = (await exited) as [number | null];
        assert.equal(code, 0);
        await serving({ LOG_LEVEL: 'info' });
        assert.deepEqual(await numbersIn(table), [1, 2]);
      });

    test('Running: an idle connection that is kept alive does not hold the exit', async () => {
      const service = await serving({ LOG_LEVEL: 'info' });
      const agent = new Agent({ keepAlive: true });
      const { hostname, port } = new URL(service.url);
      const [answer] = await once(request({ hostname, port, path: '/health/live', agent }).end(), 'response');
      answer.resume();
      await once(answer, 'end');
      const started = Date.now();
      assert.equal(await service.stop(), 0);
      assert.ok(Date.now() - started < 5000, `${Date.now() - started} ms`);
      agent.destroy();
    });

    test('Operations: the log says when the service started, why it stops, and when it has stopped', () => {
      assert.ok(running);
      const lines = logLines(running.output());
      const [started, stopping, stopped] = ['started', 'stopping', 'stopped'].map((msg) =>
        lines.find((line) => line.msg === msg),
      );
      const { version, node, engine: kind, systems, address, ms } = started ?? {};
      assert.match(String(version), /^\d+\.\d+\.\d+$/);
      assert.deepEqual([node, kind, systems, address], [process.versions.node, engine, 1, running.url]);
      assert.ok(Number(ms) > 0);
      assert.equal(stopping?.signal, 'SIGTERM');
      assert.ok(Number(stopped?.ms) >= 0);
    });

    test('Running: requests sent before SIGTERM are answered, even if the service has not read them yet', async () => {
      const service = await serving();
      const write = () => service.call('POST', '/platform/classes/Kept', { body: { n: 1 } });
      await write();
      const requests = Array.from({ length: 3_000 }, () => ({ method: 'POST', path: '/platform/classes/Kept', body: { n: 2 } }));
      const busy = service.call('POST', '/platform/batch', { body: { requests } });
      await wait(50);
      const sent = Array.from({ length: 20 }, write);
      await wait(20);
      const stopping = service.stop();
      assert.deepEqual(new Set((await Promise.all(sent)).map((answer) => answer.status)), new Set([201]));
      assert.equal((await busy).body.length, 3_000);
      assert.equal(await stopping, 0);
    });

    test('Running: an answer under way at SIGTERM comes whole, and its connection is not kept alive after', async () => {
      const service = await serving();
      const { long, rows } = await makeLong(service);
      const { hostname, port } = new URL(service.url);
      // The client would keep the connection for longer than the test may take.
      const agent = new Agent({ keepAlive: true, timeout: 60_000 });
      const path = `/platform/classes/${long}?limit=20000`;
      const [answer] = await once(request({ hostname, port, path, headers: keysOf(service), agent }).end(), 'response');
      await wait(300);
      const stopping = service.stop();
      await wait(300);
      let text = '';
      for await (const chunk of answer) text += chunk;
      const read = Date.now();
      assert.equal(JSON.parse(text).results.length, rows);
      assert.equal(await stopping, 0);
      assert.ok(Date.now() - read < 3_000, `${Date.now() - read} ms`);
      agent.destroy();
    });

    test('Running: a batch in flight is finished whole; a second start keeps data, schema and keys and ignores other keys in the environment', async () => {
      const table = tableName('Kept');
      const first = await serving();
      await create(first, table, { n: -1, s: 'text' });
      const schema = (await first.call('GET', `/platform/schemas/${table}`)).body;
      const writing = createMany(
        first,
        table,
        Array.from({ length: 1000 }, (_, n) => ({ n })),
      );
      await wait(20);
      const stopping = first.stop();
      const ids = await writing.catch((error: unknown) => error);
      assert.equal(await stopping, 0);
      const second = await serving({ MASTER_KEY: 'another-master-key', API_KEY: 'another-api-key' });
      const numbers = await numbersIn(table);
      assert.ok(Array.isArray(ids) ? numbers.length === 1001 : numbers.length === 1, `${numbers.length} rows after ${ids}`);
      assert.equal(numbers[0], -1);
      assert.deepEqual((await second.call('GET', `/platform/schemas/${table}`)).body, schema);
      assert.equal((await second.call('GET', '/platform/schemas', { as: 'apiKey' })).status, 200);
      const headers = { 'X-Platform-Master-Key': 'another-master-key' };
      assert.equal((await second.call('GET', `/platform/classes/${table}`, { as: 'anonymous', headers })).status, 400);
    });

    test('Running: committed writes survive a crash', async () => {
      const table = tableName('Kept');
      const first = await serving();
      await createMany(
        first,
        table,
        Array.from({ length: 100 }, (_, n) => ({ n })),
      );
      await first.kill();
      assert.deepEqual(await numbersIn(table), [...Array(100).keys()]);
    });
  });

const wrong: [string, Record<string, string>][] = [
  ['PORT', { PORT: 'abc' }],
  ['PORT', { PORT: '70000' }],
  ['PORT', { PORT: '-1' }],
  ['PORT', { PORT: '80.5' }],
  ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
  ['BASE_URL', { BASE_URL: 'not a url' }],
  ['STATIC_URL', { STATIC_URL: 'ftp//x' }],
  ['DATABASE_URL', { DATABASE_URL: 'mysql://localhost/x' }],
  ['FILES_URL', { FILES_URL: 'gopher://x' }],
  ['QUERY_TIMEOUT_MS', { QUERY_TIMEOUT_MS: 'soon' }],
  ['QUERY_TIMEOUT_MS', { QUERY_TIMEOUT_MS: '-5' }],
  ['SESSION_DAYS', { SESSION_DAYS: 'x' }],
];
const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');

for (const [name, env] of wrong)
  test(`Running: a malformed setting stops the start with one clear line: ${JSON.stringify(env)}`, async () => {
    const cwd = await temporary();
    const { code, stdout, stderr } = await runCommand(['start'], { HOST: '127.0.0.1', PORT: '0', DATA_DIR: cwd, ...env }, cwd);
    assert.equal(code, 1);
    const said = lines(stdout + stderr);
    assert.equal(said.length, 1, said.join('\n'));
    assert.match(said[0] ?? '', new RegExp(name));
  });

test('Running: a .env file is read; the environment wins over it', async () => {
  const cwd = await temporary();
  await writeFile(join(cwd, '.env'), 'APP_ID=from-dot-env\nMASTER_KEY="quoted key"\n# a comment\n');
  const service = await startBare({ APP_ID: 'from-environment', API_KEY: 'aaaa-key' }, cwd);
  const statusOf = async (appId: string) => {
    const headers = { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': 'quoted key' };
    return (await fetch(`${service.url}/platform/schemas`, { headers })).status;
  };
  assert.deepEqual([await statusOf('from-environment'), await statusOf('from-dot-env')], [200, 403]);
  assert.equal(await service.stop(), 0);
});
for (const text of ['PROT=8080\n', 'LOG_LEVEL=loud\n'])
  test(`Running: an unknown or malformed setting in a .env file stops the start with one clear line: ${text.trim()}`, async () => {
    const cwd = await temporary();
    await writeFile(join(cwd, '.env'), text);
    const { code, stdout, stderr } = await runCommand(['start'], { HOST: '127.0.0.1', PORT: '0', DATA_DIR: cwd }, cwd);
    assert.equal(code, 1);
    const said = lines(stdout + stderr);
    assert.equal(said.length, 1, said.join('\n'));
    assert.match(said[0] ?? '', new RegExp(text.split('=')[0] ?? ''));
  });
test('Running: a port that is taken stops the start, non-zero and without a stack', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const cwd = await temporary();
  const env = { HOST: '127.0.0.1', PORT: String((taken.address() as AddressInfo).port), DATA_DIR: cwd };
  const { code, stdout, stderr } = await runToEnd(['start'], env, cwd);
  taken.close();
  assert.ok(code !== null && code !== 0, `exit code ${code}`);
  assert.ok(!/^\s+at /m.test(stdout + stderr), stdout + stderr);
});
for (const host of ['host.invalid', '192.0.2.1'])
  test(`Running: a HOST that this machine does not have stops the start in one line that names it: ${host}`, async () => {
    const cwd = await temporary();
    const { code, stderr } = await runToEnd(['start'], { DATA_DIR: cwd, HOST: host, PORT: '0' }, cwd);
    assert.equal(code, 1);
    assert.match(stderr, /^record-service: .*; check HOST/m);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  });

test('Running: a DATA_DIR that is a file stops the start, non-zero and without a stack', async () => {
  const cwd = await temporary();
  await writeFile(join(cwd, 'file'), 'x');
  const { code, stdout, stderr } = await runCommand(['start'], { PORT: '0', DATA_DIR: join(cwd, 'file') }, cwd);
  assert.ok(code !== null && code !== 0, `exit code ${code}`);
  assert.ok(!/^\s+at /m.test(stdout + stderr), stdout + stderr);
});
test('Running: an unknown command ends non-zero, help ends with 0', async () => {
  const cwd = await temporary();
  assert.notEqual((await runToEnd(['nonsense'], {}, cwd)).code, 0);
  const help = await runCommand(['help'], {}, cwd);
  assert.equal(help.code, 0);
  for (const name of ['start', 'system', 'key']) assert.match(help.stdout, new RegExp(name));
});

for (const engine of anyEngine)
  describe(`credentials (${engine})`, () => {
    test('Running: generated credentials are printed once, kept in DATA_DIR/credentials.json (0600), and differ between fresh starts', async () => {
      const fresh = await dataForTest(engine, false);
      await (await startBare(fresh.settings, fresh.dataDir)).stop();
      const otherFile = JSON.parse(await readFile(join(fresh.dataDir, 'credentials.json'), 'utf8')) as Record<string, string>;
      const { dataDir: cwd, settings } = await dataForTest(engine, false);
      const first = await startBare(settings, cwd);
      const file = join(cwd, 'credentials.json');
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      const kept = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
      const value = (pattern: RegExp) => Object.entries(kept).find(([name]) => pattern.test(name))?.[1] ?? '';
      const [appId, masterKey, apiKey] = [value(/^app/i), value(/master/i), value(/api/i)];
      for (const secret of [masterKey, apiKey]) assert.ok(!Object.values(otherFile).includes(secret));
      for (const secret of [appId, masterKey, apiKey]) {
        assert.ok(secret.length >= 8, JSON.stringify(Object.keys(kept)));
        assert.ok(first.output().includes(secret), 'printed at the first start');
      }
      assert.ok(masterKey.length >= 24 && apiKey.length >= 24 && masterKey !== apiKey);
      for (const key of [{ 'X-Platform-Master-Key': masterKey }, { 'X-Platform-API-Key': apiKey }] as Record<string, string>[])
        assert.equal(
          (await fetch(`${first.url}/platform/schemas`, { headers: { 'X-Platform-Application-Id': appId, ...key } })).status,
          200,
        );
      assert.equal(await first.stop(), 0);
      const second = await startBare(settings, cwd);
      for (const secret of [masterKey, apiKey]) assert.ok(!second.output().includes(secret), 'printed once only');
      const headers = { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': masterKey };
      assert.equal((await fetch(`${second.url}/platform/schemas`, { headers })).status, 200);
      assert.equal(await second.stop(), 0);
    });
  });
