/** Clients that use up all descriptors. Reference: requests.md#connections. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dataForTest } from '../support/data.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

test('idle connections beyond the descriptors of the process are closed; writes and files go on', async () => {
  // An empty one: a first start reads the most files.
  const { dataDir, settings } = await dataForTest('sqlite', false);
  const child = spawn('sh', ['-c', `ulimit -n 128; exec "${process.execPath}" "${main}" start`], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      ...settings,
      HOST: '127.0.0.1',
      PORT: '0',
      APP_ID: 'testapp',
      MASTER_KEY: 'test-master-key',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const exited = once(child, 'exit');
  try {
    let port = 0;
    for (let n = 0; n < 1_500 && port === 0 && child.exitCode === null; n++) {
      port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1] ?? 0);
      await wait(20);
    }
    assert.ok(port > 0, output);
    const headers = { 'X-Platform-Application-Id': 'testapp', 'X-Platform-Master-Key': 'test-master-key', Connection: 'close' };
    let answer = '';
    const post = async (path: string, body: string, type = 'application/json') => {
      const init = { method: 'POST', headers: { ...headers, 'Content-Type': type }, body };
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      answer = await response.text();
      return response.status;
    };
    assert.equal(await post('/platform/classes/T', '{"n":0}'), 201, `${answer}\n${output}`);
    const idle: Socket[] = [];
    for (let n = 0; n < 400; n++) idle.push(connect(port, '127.0.0.1').on('error', () => {}));
    await wait(1_500);
    // The first requests meet the limit, which makes the service close idle connections.
    const outcomes: unknown[] = [];
    for (let n = 0; n < 40; n++) {
      const path = n % 2 === 0 ? '/platform/classes/T' : '/platform/files/a.txt';
      outcomes.push(
        await post(path, n % 2 === 0 ? '{"n":1}' : 'text', n % 2 === 0 ? undefined : 'text/plain').catch(() => 'closed'),
      );
      await wait(50);
    }
    assert.deepEqual(new Set(outcomes.slice(30)), new Set([201]), JSON.stringify(outcomes));
    assert.ok(!outcomes.includes(500), JSON.stringify(outcomes));
    for (const socket of idle) socket.destroy();
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
  } finally {
    child.kill('SIGKILL');
  }
});
