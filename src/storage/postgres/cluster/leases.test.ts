import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
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

  /** Number of processes that got the job, when each makes several attempts at once. */
  async function takenBy(job: string, everyMs: number): Promise<number> {
    const attempts = await Promise.all(
      processes.flatMap((database) => Array.from({ length: 5 }, () => takeLease(database, schemaName, job, everyMs))),
    );
    return attempts.filter(Boolean).length;
  }

  test('of many that ask at once one gets a job', async () => {
    assert.equal(await takenBy('first', 60_000), 1);
    assert.equal(await takenBy('first', 60_000), 0);
    assert.equal(await takenBy('second', 60_000), 1);
  });

  test('it is due again after its time', async () => {
    assert.equal(await takenBy('often', 300), 1);
    await wait(400);
    assert.equal(await takenBy('often', 300), 1);
  });
});
