import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Fleet } from './fleet.ts';

const directory = mkdtempSync(join(tmpdir(), 'rds-fleet-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** A worker that listens unless there is a file `silent`, and ends when it is told to. */
const program = join(directory, 'worker.mjs');
const silent = join(directory, 'silent');
writeFileSync(
  program,
  `import { existsSync } from 'node:fs';
if (!existsSync(${JSON.stringify(silent)})) process.send({ listening: 'here', version: '1' });
process.on('message', () => process.exit());`,
);

test('a process that never listens ends a reload, whether the reload or the end of another one started it', async () => {
  cluster.setupPrimary({ exec: program });
  const fleet = new Fleet(2, {}, 500);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const { promise: listening, resolve: heard } = Promise.withResolvers<void>();
  const served = fleet.serve(stopped, { listening: () => heard() });
  await listening;
  writeFileSync(silent, '');
  const late = /^a new process could not serve: it did not listen within 0.5 s$/;
  await assert.rejects(fleet.reload(2), { message: late });
  assert.equal(fleet.serving, 2);
  const [killed] = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isDead() === false);
  killed?.process.kill('SIGKILL');
  // Until another one has been started in its place.
  while (fleet.serving === 2 || Object.values(cluster.workers ?? {}).length < 2) await wait(50);
  await assert.rejects(fleet.reload(2), { message: late });
  rmSync(silent);
  // It is replaced by one that listens, and the next reload succeeds.
  while (fleet.serving < 2) await wait(50);
  assert.deepEqual(await fleet.reload(2), { processes: 2, finishing: 0, version: '1' });
  stop();
  await served;
});
