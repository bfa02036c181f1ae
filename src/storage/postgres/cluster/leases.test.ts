import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../connection/database.ts';
import { connectDatabase } from '../connection/pool.ts';
import { openCatalog } from '../schema/migrations.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';
import { takeLease } from './leases.ts';

describe('claims of periodic jobs', () => {
  const schemaName = 'rds_claims';
  let home: TestDatabase;
  let processes: Database[];
  before(async () => {
    home = await testDatabase();
    processes = await Promise.all([1, 2, 3].map(() => connectDatabase(home.url, { timeLimit: 5_000 })));
    await openCatalog(processes[0] as Database, schemaName, true);
  });
  after(async () => {
    await Promise.all(processes.map((database) => database.close()));
    await home.drop();
  });

  /** How many of the processes got the job, each asking several times at once. */
  async function claimedBy(job: string, every: number): Promise<number> {
    const asked = await Promise.all(
      processes.flatMap((database) => Array.from({ length: 5 }, () => takeLease(database, schemaName, job, every))),
    );
    return asked.filter(Boolean).length;
  }

  test('of many that ask at once one gets a job', async () => {
    assert.equal(await claimedBy('first', 60_000), 1);
    assert.equal(await claimedBy('first', 60_000), 0);
    assert.equal(await claimedBy('second', 60_000), 1);
  });

  test('it is due again after its time', async () => {
    assert.equal(await claimedBy('often', 300), 1);
    await wait(400);
    assert.equal(await claimedBy('often', 300), 1);
  });
});
