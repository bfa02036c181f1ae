/** An apply that is killed at a random moment has done all or nothing. Reference: schema-as-code.md#apply. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { engines } from '../../support/data.ts';
import type { Service } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';
import { begin } from '../backups.ts';
import { applied, changesOf, edit, exported, filesIn, newSystem } from './schemas.ts';

const kills = Number(process.env.APPLY_KILLS ?? 4);
/** Share of a command's duration in which the program is only being loaded, so that a kill shows nothing. */
const LOADING = 0.4;

for (const engine of engines)
  describe(`kills of schema apply: ${engine}`, () => {
    let system: Service;
    let empty: string;
    let full: string;
    before(async () => {
      system = await newSystem(await sharedService(engine));
      empty = await exported(system);
      full = await exported(system);
      for (let n = 0; n < 40; n++) {
        const name = `Killed${n}`;
        await edit(full, `tables/${name}.json`, () => ({
          fields: {
            Name: { type: 'String', dictionary: `name ${n}` },
            Next: { type: 'Pointer', targetClass: `Killed${(n + 1) % 40}` },
          },
          indexes: { byName: { Name: 1 } },
        }));
        await edit(full, 'permissions.json', (all) => ({ ...all, [name]: { find: { 'role:Killers': true } } }));
      }
      await edit(full, 'roles.json', (roles) => ({ ...roles, Killers: { roles: ['Sales'] } }));
      const trigger = { Name: 'killed', table: 'Killed0', events: ['create'], actions: [] };
      await writeFile(join(full, 'triggers.json'), JSON.stringify([trigger]));
    });

    test('by SIGKILL: what is exported then is the state before it, or the whole snapshot', async (t) => {
      const none = await filesIn(empty);
      const args = (from: string) => ['schema', 'apply', '--system', system.appId, '--from', from, '--allow-destructive'];
      const began = performance.now();
      assert.equal((await begin(system, args(full)).ended).code, 0);
      const durationMs = performance.now() - began;
      const all = await filesIn(await exported(system));
      await applied(system, empty, '--allow-destructive');
      assert.deepEqual(await filesIn(await exported(system)), none);
      let [whole, nothing] = [0, 0];
      for (let n = 0; n < kills; n++) {
        const { child, ended } = begin(system, args(full));
        await Promise.race([ended, wait((LOADING + Math.random() * (1 - LOADING)) * durationMs)]);
        child.kill('SIGKILL');
        await ended;
        const now = await filesIn(await exported(system));
        const isWhole = Object.keys(now).length > Object.keys(none).length;
        assert.deepEqual(now, isWhole ? all : none);
        if (isWhole) whole++;
        else nothing++;
        if (isWhole) await applied(system, empty, '--allow-destructive');
        assert.deepEqual(await changesOf(system, empty), []);
      }
      t.diagnostic(`${kills} kills within ${Math.round(durationMs)} ms: ${whole} with all, ${nothing} with nothing`);
    });
  });
