/** A registry whose file fails beside clients: known systems are served, and systems that were added meanwhile are served afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../support/data.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { WITHIN_MS } from './expected.ts';
import { allEnded } from './log.ts';
import { injector } from './preload/control.ts';

/** How long the file fails. */
const FAULT_MS = 2_000;

if (engines.includes('sqlite'))
  test('a registry whose file fails (sqlite)', async (t) => {
    const faults = injector();
    if (!faults) return t.skip('no C compiler');
    const service = await startServiceProcess({ env: faults.env });
    const write = async (system: System) =>
      (await callSystem(service, system, 'POST', '/platform/classes/Kept', { body: { n: 1 } })).status;
    const first: System = service;
    // The checks after a start close the systems that they opened, and opening one reads the registry.
    await wait(2_000);
    for (const [name, path, ids] of [
      ['the file and its log', 'registry.sqlite', ['two', 'three']],
      ['the log alone', 'registry.sqlite-wal', ['four', 'five']],
    ] as const)
      await t.test(`${name}: systems go on, and one that was added meanwhile is served within two seconds`, async () => {
        assert.equal(await write(first), 201);
        // The command is a process without faults.
        const rule = faults.begin({ calls: ['read', 'write', 'sync', 'open', 'truncate'], path, error: 'EIO' });
        const second = await addSystem(service, '--app-id', ids[0]);
        const until = performance.now() + FAULT_MS;
        while (performance.now() < until) {
          assert.equal(await write(first), 201);
          const status = await write(second);
          assert.ok([201, 403, 404, 401, 503].includes(status), String(status));
          await wait(20);
        }
        rule.end();
        await soon(async () => assert.equal(await write(second), 201), WITHIN_MS);
        const third = await addSystem(service, '--app-id', ids[1]);
        await soon(async () => assert.equal(await write(third), 201), WITHIN_MS);
        assert.equal(await write(first), 201);
        assert.ok(rule.met() > 0);
      });
    await allEnded(service.output);
    assert.equal(await service.stop(), 0);
  });
