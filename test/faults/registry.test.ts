/** A registry whose file fails beside clients (CONTRACT "Faults of the store"): what is known of systems serves on; what is new is known after. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../support/data.ts';
import { startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { addSystem, callSystem, type System } from '../systems/cli.ts';
import { allEnded } from './log.ts';
import { injector } from './preload/control.ts';

/** CONTRACT: two seconds; as much again for a machine that others use too. */
const WITHIN_MS = 2_000 + 2_000;

if (engines.includes('sqlite'))
  describe('a registry whose file fails (sqlite)', () => {
    for (const [name, path] of [
      ['the file and its log', 'registry.sqlite'],
      ['the log alone', 'registry.sqlite-wal'],
    ] as const)
      test(`${name}: systems go on, and one that was added meanwhile is served within two seconds`, async (t) => {
        const faults = injector();
        if (!faults) return t.skip('no C compiler');
        const service = await startService({ env: faults.env });
        const asks = async (system: System) =>
          (await callSystem(service, system, 'POST', '/platform/classes/Kept', { body: { n: 1 } })).status;
        const first: System = service;
        // The looks after a start close the systems again that they opened, and opening one asks the registry.
        await wait(2_000);
        assert.equal(await asks(first), 201);
        // The command is beside the service: it is not met by the faults.
        const rule = faults.begin({ calls: ['read', 'write', 'sync', 'open', 'truncate'], path, error: 'EIO' });
        const second = await addSystem(service, '--app-id', 'second');
        const until = performance.now() + 3_000;
        while (performance.now() < until) {
          assert.equal(await asks(first), 201);
          const status = await asks(second);
          assert.ok([201, 403, 404, 401, 503].includes(status), String(status));
          await wait(20);
        }
        rule.end();
        await soon(async () => assert.equal(await asks(second), 201), WITHIN_MS);
        const third = await addSystem(service, '--app-id', 'third');
        await soon(async () => assert.equal(await asks(third), 201), WITHIN_MS);
        assert.equal(await asks(first), 201);
        assert.ok(rule.met() > 0);
        await allEnded(service.output);
        assert.equal(await service.stop(), 0);
      });
  });
