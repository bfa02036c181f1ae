/** Clones that are killed at a random moment or interrupted: nothing half made is served, and nothing is left behind. Reference: clone.md#interruption. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { fileObject, uploadFile } from '../support/files.ts';
import { createMany, defineTable, find } from '../support/query.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { addSystem } from '../systems/cli.ts';
import { begin, done, namesBelow } from './backups.ts';
import { at, clone, remove } from './clones.ts';

/** Kills by each signal. */
const kills = Number(process.env.CLONE_KILLS ?? 2);
/** Share of a command's duration in which the program is only being loaded, so that a kill shows nothing. */
const LOADING = 0.3;
const ROWS = 4_000;

/** Returns what a clone could leave behind: file names in DATA_DIR and schemas in PostgreSQL. */
async function stateOf({ dataDir, database }: Service): Promise<string[]> {
  const names = (await namesBelow(dataDir)).filter((name) => !/-(wal|shm)$|[.]lock$/.test(name));
  const schemas = database ? await query(database.url, 'SELECT nspname FROM pg_namespace ORDER BY 1') : [];
  return [...names, ...schemas.map((row) => JSON.stringify(row))];
}

for (const engine of engines)
  describe(`kills of clones: ${engine}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine });
      await defineTable(service, 'Many', { n: 'Number', s: 'String', f: 'File' });
      const files = await Promise.all(
        Array.from({ length: 8 }, (_, n) => uploadFile(service, `f${n}.txt`, `${n}`.repeat(20_000))),
      );
      await createMany(
        service,
        'Many',
        files.map((file, n) => ({ n, f: fileObject(file) })),
      );
      const rows = Array.from({ length: ROWS }, (_, n) => ({ n, s: `row ${n} ${'x'.repeat(n % 90)}` }));
      await createMany(service, 'Many', rows);
    });
    after(() => service.stop());

    test('by SIGKILL and SIGINT: the name is free again, and the next command removes what is left', async (t) => {
      await done(service, ['system', 'list']);
      const untouched = await stateOf(service);
      const args = ['system', 'clone', service.appId, '--as', 'Killed'];
      const began = performance.now();
      assert.equal((await begin(service, args).ended).code, 0);
      const durationMs = performance.now() - began;
      await done(service, ['system', 'remove', 'Killed', '--now']);
      let late = 0;
      for (const signal of ['SIGKILL', 'SIGINT'] as const)
        for (let n = 0; n < kills; n++) {
          const { child, ended } = begin(service, args);
          await Promise.race([ended, wait((LOADING + Math.random() * (1 - LOADING)) * durationMs)]);
          child.kill(signal);
          const { code, stderr } = await ended;
          assert.ok(code === null || code === 0, stderr);
          const isServed = (await done(service, ['system', 'list'])).includes('Killed');
          if (code === 0) late++;
          // Either it is whole, or it does not exist.
          if (!isServed) continue;
          await done(service, ['system', 'resume', 'Killed']);
          await done(service, ['system', 'remove', 'Killed', '--now']);
        }
      // A command that creates a system removes all leftovers.
      const other = await addSystem(service);
      await remove(service, other);
      assert.deepEqual(await stateOf(service), untouched);
      const copy = await clone(service, service.appId, 'Killed');
      assert.equal((await find(at(service, copy), 'Many', { limit: 100_000 })).length, ROWS + 8);
      await remove(service, copy);
      await done(service, ['check']);
      t.diagnostic(`${2 * kills} kills within ${Math.round(durationMs)} ms, ${late} too late`);
    });
  });
