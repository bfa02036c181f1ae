/**
 * Guessing keys is rate limited by address, whichever way a key is sent; a caller with a long, right key passes from the same address. Short keys
 * are refused or reported. Reference: authentication.md#keys.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { dataForTest } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { type Answer, anyEngine, type Service, startService } from '../support/service.ts';
import { startBare } from './process.ts';

const MAX_WRONG_KEYS = 100;
/** Long, while the API key of the service under test is short. */
const masterKey = 'a-master-key-of-some-length';

for (const engine of anyEngine)
  describe(`keys tried out (${engine})`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine, env: { TRUST_PROXY: 'on', MASTER_KEY: masterKey } });
    });
    after(() => service.stop());

    let sent = 0;
    const wrong = () => `wrong-key-${sent++}`;
    const call = (method: string, path: string, address: string, headers: Record<string, string>, body?: unknown) =>
      service.call(method, path, { as: 'anonymous', body, headers: { 'X-Forwarded-For': address, ...headers } });
    const byMaster = (key: string, address: string) =>
      call('GET', '/platform/classes/Accounts?limit=1', address, { 'X-Platform-Master-Key': key });

    /** The ways to send a key, and the status of the answer to a wrong one. */
    const doors: Record<string, [send: (key: string, address: string) => Promise<Answer>, refused: number]> = {
      'the master header': [byMaster, 400],
      'the API header': [
        (key, address) => call('GET', '/platform/classes/Accounts?limit=1', address, { 'X-Platform-API-Key': key }),
        400,
      ],
      'a body': [
        (key, address) => call('POST', '/platform/classes/Accounts', address, {}, { _method: 'GET', limit: 1, _MasterKey: key }),
        400,
      ],
      schemas: [(key, address) => call('GET', '/platform/schemas', address, { 'X-Platform-API-Key': key }), 403],
      'a batch': [
        (key, address) => call('POST', '/platform/batch', address, { 'X-Platform-Master-Key': key }, { requests: [] }),
        200,
      ],
      'an upload': [
        (key, address) =>
          call('POST', '/platform/files/a.txt', address, { 'X-Platform-API-Key': key, 'Content-Type': 'text/plain' }, 'text'),
        400,
      ],
      'a deletion': [(key, address) => call('DELETE', '/platform/files/a.txt', address, { 'X-Platform-API-Key': key }), 403],
      'a private file': [
        (key, address) => call('POST', `/platform/files/testapp/n/Accounts/i/F`, address, {}, { _MasterKey: key }),
        200,
      ],
      'a form': [
        (key, address) => call('POST', '/functions/testapp/getlead', address, { 'X-Platform-API-Key': key }, { Name: 'x' }),
        400,
      ],
      'agent tools': [
        (key, address) => {
          const headers = { 'X-Platform-API-Key': key, Accept: 'application/json, text/event-stream' };
          const body = {
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'Count-Data', arguments: { table: 'Accounts' } },
          };
          return call('POST', '/mcp/testapp', address, headers, body);
        },
        200,
      ],
    };

    test('of an address a hundred different wrong keys are checked; then a right one passes, a short one if it was right before', async () => {
      const address = '198.51.100.1';
      const before = service.output().length;
      const others = Array.from({ length: MAX_WRONG_KEYS }, (_, n) => (n % 2 ? wrong() : `${wrong()}-of-some-length`));
      for (const { status, body } of await Promise.all(others.map((key) => byMaster(key, address))))
        assert.deepEqual([status, body.code], [400, 119]);
      for (const [door, [send]] of Object.entries(doors))
        for (const key of [wrong(), `${wrong()}-of-some-length`]) {
          const { status, text, headers, body } = await send(key, address);
          assert.deepEqual([status, /Too many requests/.test(text)], [429, true], `${door}: ${text}`);
          if (door !== 'agent tools') assert.equal(body.code, 155, door);
          const seconds = Number(headers.get('retry-after'));
          assert.ok(seconds >= 1 && seconds <= 60, `${door}: ${seconds}`);
        }
      assert.equal((await byMaster(masterKey, address)).status, 200, 'never seen from there, and long');
      const right = { 'X-Platform-API-Key': service.apiKey };
      assert.equal((await call('GET', '/platform/schemas', address, right)).status, 429, 'never seen from there, and short');
      assert.equal((await call('GET', '/platform/schemas', '198.51.100.2', right)).status, 200);
      for (let n = 0; n < MAX_WRONG_KEYS; n++) await byMaster(wrong(), '198.51.100.2');
      assert.equal((await byMaster(wrong(), '198.51.100.2')).status, 429);
      assert.equal((await call('GET', '/platform/schemas', '198.51.100.2', right)).status, 200, 'proved right before');
      assert.equal(
        (await call('POST', '/functions/testapp/getlead', address, {}, { PhoneNumber: '050' })).status,
        200,
        'without a key',
      );
      const logged = service.output().slice(before);
      assert.equal(logged.match(/keys are tried out/g)?.length, 2, logged);
      assert.ok(logged.includes(address) && !logged.includes('wrong-key'), logged);
    });

    for (const [at, [door, [send, refused]]] of Object.entries(doors).entries())
      test(`wrong keys are counted by ${door}; one that is sent again and again is not`, async () => {
        const address = `203.0.113.${at}`;
        const together = (count: number, key: () => string) =>
          Promise.all(Array.from({ length: count }, () => send(key(), address)));
        for (const { status, text } of await together(5, () => 'the-same-key')) {
          assert.notEqual(status, 429, text);
          if (refused !== 200) assert.equal(status, refused, text);
        }
        for (const { status } of await together(MAX_WRONG_KEYS - 1, wrong)) assert.notEqual(status, 429);
        assert.equal((await send(wrong(), address)).status, 429);
        assert.equal((await byMaster(wrong(), address)).status, 429, 'all ways share the count');
      });
  });

test('Running: keys of fewer than 8 characters stop the start, and refuse the command, in one line', async () => {
  const { dataDir: cwd, settings } = await dataForTest('sqlite', false);
  const env = { HOST: '127.0.0.1', PORT: '0', ...settings };
  const run = (...args: string[]) => runCommand(args, settings, cwd);
  const names = ['MASTER_KEY', 'API_KEY'];
  const [short, ...starts] = await Promise.all([
    run('system', 'add', '--app-id', 'a', '--master-key', 'seven77'),
    ...names.map((name) => runCommand(['start'], { ...env, [name]: 'seven77' }, cwd)),
  ]);
  for (const [at, { code, stdout, stderr }] of starts.entries()) {
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, new RegExp(`^[^\\n]*${names[at]}: must be 8 to 256 printable ASCII characters\\n$`));
  }
  assert.deepEqual([short.code, short.stdout], [1, '']);
  assert.match(short.stderr, /^[^\n]*a key has 8 to 256 printable ASCII characters\n$/);
  const added = await run('system', 'add', '--app-id', 'a', '--master-key', 'eight888');
  assert.equal(added.code, 0, added.stderr);
  assert.match(added.stderr, /^[^\n]*The master key has fewer than 20 characters[^\n]*\n$/);
  const key = (value: string) => run('key', 'add', '--system', 'a', '--name', value, '--key', value);
  const [seven, eight, long] = await Promise.all([key('seven77'), key('eight888'), key('of-twenty-characters')]);
  assert.deepEqual([seven.code, eight.code, long.code, long.stderr], [1, 0, 0, '']);
  const weak = await startBare({ ...settings, MASTER_KEY: 'eight888' }, cwd);
  await weak.stop();
  assert.equal(weak.output().match(/MASTER_KEY has fewer than 20 characters/g)?.length, 1, weak.output());
  assert.ok(!weak.output().includes('eight888'));
});
