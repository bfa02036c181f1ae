/** An act that the registry has committed reaches the log whenever its process ends. Reference: audit.md#acts-on-keys-and-systems. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { unique } from '../support/records.ts';
import { compileCache, engines } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { succeed, useUnusedSystem } from '../systems/cli.ts';
import { actsOf, told } from './acts.ts';

const adder = fileURLToPath(new URL('./killed-key-adder.ts', import.meta.url));

for (const engine of engines)
  describe(`log of administrators after a kill (${engine})`, () => {
    const store = useUnusedSystem(engine);

    for (const [moment, rows] of [
      ['before', 0],
      ['after', 1],
    ] as const)
      test(`a process is killed ${moment} it wrote the row: the key is valid, and the log has one row`, async () => {
        const service = store.service();
        const [name, key] = [unique('key-'), unique('key-of-a-killed-process-')];
        const child = spawn(process.execPath, [adder, service.appId, name, key, moment], {
          cwd: service.dataDir,
          env: { PATH: process.env.PATH ?? '', ...compileCache, ...service.settings },
          stdio: ['ignore', 'inherit', 'inherit'],
        });
        const [code, signal] = await once(child, 'close');
        assert.deepEqual([code, signal], [null, 'SIGKILL']);
        const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-API-Key': key };
        await afterCommand(service, async () => {
          const { status } = await store.call('GET', '/platform/schemas/_User', { as: 'anonymous', headers });
          assert.equal(status, 200);
        });
        const found = async () => (await actsOf(store)).filter(({ subject }) => subject === name);
        const atOnce = await found();
        assert.equal(atOnce.length, rows);
        for (let opened = 0; opened < 2; opened++) {
          await succeed(service, 'user', 'list', '--system', service.appId);
          const [row, ...others] = await found();
          assert.deepEqual([told(row), row.who, others], [['keys', name, null, { name }], 'cli', []]);
          if (atOnce[0]) assert.deepEqual(row, atOnce[0]);
        }
      });
  });
