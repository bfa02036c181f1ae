/** A clock that is set forward and back (CONTRACT "Faults of the store": schedules go by the wall clock as it is now). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { anyEngine } from '../support/service.ts';
import { injector } from './preload/control.ts';
import { startWorld } from './world.ts';

const HOUR = 3_600_000;

for (const engine of anyEngine)
  describe(`the clock (${engine})`, () => {
    test('a day ahead, an hour back, right again: writes, triggers and schedules go on by the new clock', async (t) => {
      const faults = injector();
      if (!faults) return t.skip('no C compiler');
      const world = await startWorld({ engine, env: faults.env });
      assert.ok(faults.isLoaded());
      for (const [name, offset] of [
        ['a day ahead', 24 * HOUR],
        ['an hour back', -HOUR],
        ['right again', 0],
      ] as const)
        await t.test(name, async () => {
          await world.beside({
            name,
            expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
            async fault() {
              faults.setClock(offset);
              await wait(500);
            },
          });
        });
      await world.close();
    });
  });
