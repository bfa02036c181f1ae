/**
 * The store of one system of SQLite is away for a while beside clients: it is refused until it is back, and the other system is served.
 * absence.test.ts has stores that are damaged, empty or another system's. Reference: faults.md#missing-and-foreign-stores.
 */
import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { addSystem, callSystem } from '../systems/cli.ts';
import { assertUnavailable } from './absence-world.ts';
import { startWorld } from './world.ts';

if (engines.includes('sqlite'))
  test('the files of the first system are away for seconds beside clients, and come back', async () => {
    const world = await startWorld();
    const { appId, masterKey, apiKey, dataDir } = world.service;
    const second = await addSystem(world.service, '--name', 'Second', '--app-id', 'second-app');
    const [folder, aside] = [join(dataDir, 'systems', appId), join(dataDir, 'aside')];
    await world.beside({
      name: 'file away',
      expect: { broken: true },
      async fault() {
        await world.service.kill();
        renameSync(folder, aside);
        await world.restart();
        await assertUnavailable(world.service, { appId, masterKey, apiKey });
        const read = await callSystem(world.service, second, 'GET', path('Accounts'));
        const written = await callSystem(world.service, second, 'POST', path('Accounts'), { body: { Name: 'b' } });
        assert.deepEqual([read.status, written.status], [200, 201]);
        assert.ok(world.service.output().includes(folder), `the log names the file: ${world.service.output()}`);
        await wait(700);
        renameSync(aside, folder);
      },
    });
    await world.close();
  });
