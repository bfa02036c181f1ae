/** API keys: added with a name, listed without their value, revoked one by one while the service runs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { assertError, create, onEachEngine, tableName } from '../support/query.ts';
import { sampledEngines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { afterCommand } from '../support/soon.ts';
import { storedIn } from '../support/stored.ts';
import { command, printed, succeed } from './cli.ts';

const sampled = sampledEngines();

onEachEngine((get, engine) => {
  const table = tableName('Keys');
  const path = `/platform/classes/${table}`;
  /** Adds a key and waits until the service accepts it. */
  const add = async (name: string) => {
    const key = printed(await succeed(get(), 'key', 'add', '--system', get().appId, '--name', name), /key/i);
    await afterCommand(get(), async () => assert.equal((await using(key, 'GET', '/platform/schemas')).status, 200));
    return key;
  };
  const revoke = (name: string) => succeed(get(), 'key', 'revoke', '--system', get().appId, '--name', name);
  const using = (key: string, method = 'GET', to = path, body?: unknown) =>
    get().call(method, to, { as: 'anonymous', headers: { 'X-Platform-API-Key': key }, body });
  let added = '';
  before(async () => {
    added = await add('there');
  });

  test('Credentials: an added API key is usable at once, and grants everything', async () => {
    const key = await add('first');
    assert.ok(key.length >= 24, key);
    const made = await using(key, 'POST', path, { n: 1 });
    assert.equal(made.status, 201, made.text);
    const one = `${path}/${made.body.objectId}`;
    assert.equal((await using(key, 'PUT', one, { n: 2, more: 'x' })).status, 200);
    assert.equal((await using(key, 'GET', one)).body.n, 2);
    assert.equal((await using(key, 'GET', '/platform/schemas')).status, 200);
    assert.equal((await using(key, 'DELETE', one)).status, 200);
  });
  test('Credentials: API key writes are logged as master', async () => {
    const made = await using(added, 'POST', path, { n: 1 });
    const row = (await get().call('GET', `${path}/${made.body.objectId}`)).body;
    assert.deepEqual(row.createdBy, { __type: 'Pointer', className: '_User', objectId: 'master' });
  });
  test('Credentials: the API key reads and writes Config and _User', async () => {
    assert.equal((await using(added, 'GET', '/platform/classes/_User')).status, 200);
    assert.equal((await using(added, 'POST', '/platform/classes/Config', { Name: 'x', Value: { x: 1 } })).status, 201);
  });
  test('Credentials: a revoked API key is refused at once (119), the others stay valid', async () => {
    await create(get(), table, { n: 1 });
    const [gone, kept] = [await add('gone'), await add('kept')];
    assert.equal((await using(gone)).status, 200);
    await revoke('gone');
    await afterCommand(get(), async () =>
      assertError(await using(gone), 400, 119, new RegExp(`^Permission denied for action find on class ${table}`)),
    );
    assertError(await using(gone, 'POST', path, { n: 1 }), 400, 119);
    assert.equal((await using(gone, 'GET', '/platform/schemas')).status, 403);
    assert.equal((await using(kept)).status, 200);
    assert.equal((await get().call('GET', path, { as: 'apiKey' })).status, 200);
  });
  test('Credentials: the name is stored and listed, the value is not', async () => {
    const key = await add('with a name');
    const output = await succeed(get(), 'key', 'list', '--system', get().appId);
    assert.ok(output.includes('with a name'), output);
    for (const secret of [key, get().apiKey, get().masterKey]) assert.ok(!output.includes(secret));
    await revoke('with a name');
    const { stdout } = await command(get(), 'key', 'list', '--system', get().appId);
    assert.ok(!stdout.split('\n').some((line) => line.includes('with a name') && !/revoked/i.test(line)), stdout);
  });
  if (sampled.includes(engine))
    test('Operations: the list says when a key was last used, once the service has written it down', async () => {
      const own = await startServiceProcess({ engine });
      try {
        const list = (...more: string[]) => succeed(own, 'key', 'list', '--system', own.appId, ...more);
        assert.match(await list(), /^default\t20\S+Z\tnever$/m);
        const before = new Date().toISOString();
        assert.equal((await own.call('GET', '/platform/schemas', { as: 'apiKey' })).status, 200);
        own.process.kill('SIGTERM');
        await once(own.process, 'exit');
        const [row] = (await list('--json'))
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        assert.deepEqual(Object.keys(row), ['name', 'createdAt', 'lastUsedAt']);
        assert.ok(row.lastUsedAt >= before, row.lastUsedAt);
      } finally {
        await own.stop();
      }
    });
  test('Credentials: a name that is taken is refused', async () => {
    assert.notEqual((await command(get(), 'key', 'add', '--system', get().appId, '--name', 'there')).code, 0);
  });
  test('Credentials: revoking a key that is not there, or of an unknown system, fails without a stack', async () => {
    for (const [system, name] of [
      [get().appId, 'nobody'],
      ['unknown-app', 'first'],
    ] as const) {
      const { code, stdout, stderr } = await command(get(), 'key', 'revoke', '--system', system, '--name', name);
      assert.notEqual(code, 0, name);
      assert.ok(!/^\s+at /m.test(stdout + stderr), stdout + stderr);
    }
  });
  test('Credentials: an API key under the master header is wrong credentials (119), and the reverse', async () => {
    await create(get(), table, { n: 1 });
    const denied = new RegExp(`^Permission denied for action find on class ${table}`);
    const headers = { 'X-Platform-Master-Key': added };
    assertError(await get().call('GET', path, { as: 'anonymous', headers }), 400, 119, denied);
    assertError(await using(get().masterKey), 400, 119, denied);
  });
  test('Credentials: an added key is not stored in clear text in DATA_DIR, nor logged', async () => {
    assert.equal((await using(added, 'POST', path, { n: 1 })).status, 201);
    for (const file of await storedIn(get())) assert.ok(!file.bytes.includes(added), file.path);
    assert.ok(!get().output().includes(added));
  });
});
