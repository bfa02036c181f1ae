/** A sweep keeps files whose rows an adopted, older store does not have. Reference: faults.md#missing-and-foreign-stores, files.md#sweep. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { onDisk } from '../files/operator.ts';
import { engines } from '../support/data.ts';
import { uploadFile } from '../support/files.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { clockAhead } from '../support/users.ts';
import { addSystem, succeed } from '../systems/cli.ts';

const TWO_DAYS = 48 * 3_600_000;

if (engines.includes('sqlite'))
  describe('Files beside a store that is older than they are', () => {
    const home = mkdtempSync(join(tmpdir(), 'rds-sweep-after-loss-'));
    after(() => rmSync(home, { recursive: true, force: true }));

    test('a sweep spares them, and passes over a system that is refused: exit code 2', async () => {
      const dataDir = join(home, 'data');
      mkdirSync(dataDir);
      let service = await startServiceProcess({ dataDir });
      const { appId, settings } = service;
      await addSystem(service, '--app-id', 'away');
      const folder = join(dataDir, 'systems', appId);
      await service.stop();
      cpSync(folder, join(home, 'older'), { recursive: true });

      service = await startServiceProcess({ dataDir });
      await uploadFile(service, 'kept.txt', 'kept');
      await service.stop();
      const files = await onDisk({ dataDir });
      assert.ok(files.length > 0);
      renameSync(folder, join(home, 'newer'));
      // The mark of the newer file stays beside it, as after an operator has restored a copy of the file.
      cpSync(join(home, 'newer'), folder, { recursive: true });
      for (const suffix of ['-wal', '-shm']) rmSync(join(folder, `records.sqlite${suffix}`), { force: true });
      cpSync(join(home, 'older', 'records.sqlite'), join(folder, 'records.sqlite'));
      renameSync(join(dataDir, 'systems', 'away'), join(home, 'away'));
      await succeed(service, 'system', 'forget', appId);
      await succeed(service, 'system', 'adopt', appId);

      const sweep = () => runCommand(['files', 'sweep'], { ...settings, ...clockAhead(TWO_DAYS) }, dataDir);
      const { code, stdout, stderr } = await sweep();
      assert.equal(code, 2, stdout + stderr);
      assert.match(stderr, new RegExp(`^${appId}: 1 file of before .* stay`, 'm'));
      assert.match(stderr, /^away was passed over: .*missing/m);
      assert.match(stdout, /removed 0 files, 0 bytes/);
      assert.deepEqual(await onDisk({ dataDir }), files);
    });
  });
