import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import * as records from '../../../records/index.ts';
import { hasSearchIndex, SEARCH_INDEX } from '../../../schema/search-index.ts';
import { FilledTable } from '../../sql/testing/fill-cases.ts';
import { StoreProcess, twoProcesses } from '../testing/store-process.ts';

type Two = Awaited<ReturnType<typeof twoProcesses<Awaited<ReturnType<typeof records.createRecord>>>>>;

const RECORDS = 300;

describe('a search index is made beside the writes of others', () => {
  let two: Two;
  /** The table with the index; another one for each test. */
  let filled: FilledTable;
  let tables = 0;

  before(async () => {
    two = await twoProcesses(records);
  });
  after(() => two.close());
  beforeEach(async () => {
    filled = new FilledTable(() => two.a.store, `T${++tables}`);
    await filled.make(RECORDS);
    await two.b.follow();
  });

  /** Opens a transaction with a snapshot, for which index builds wait. @returns a function that ends it */
  const hold = async () => {
    const client = new pg.Client({ connectionString: two.place.url });
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
    return () => client.end();
  };
  const builders = async (): Promise<number[]> => {
    const { rows } = await two.sql.query(
      'SELECT pid FROM pg_stat_progress_create_index WHERE datname = current_database() AND index_relid <> 0',
    );
    return rows.map(({ pid }) => pid);
  };
  const until = async (holds: () => Promise<boolean>) => {
    for (let left = 200; !(await holds()); left--) {
      assert.ok(left > 0, 'waited in vain');
      await wait(50);
    }
  };
  const isBuilding = async () => (await builders()).length > 0;
  const isOver = async () => !(await isBuilding());

  test('while others write', async () => {
    const release = await hold();
    const filling = filled.fill();
    await until(isBuilding);
    await filled.disturb();
    assert.equal(hasSearchIndex(filled.table), false);
    await release();
    await filling;
    await filled.disturb();
    await filled.check();
  });

  test('by one of two processes; what one of them leaves, the other one makes again', async () => {
    const release = await hold();
    const fillings = [filled.fill(), two.b.store.fillSearchIndex(filled.className, () => false)];
    const outcomes = Promise.allSettled(fillings);
    await until(isBuilding);
    await wait(500);
    const [builder, ...others] = await builders();
    assert.deepEqual(others, []);
    await two.sql.query('SELECT pg_terminate_backend($1)', [builder]);
    await until(isOver);
    await filled.disturb();
    await release();
    const ended = (await outcomes).map(({ status }) => status).toSorted();
    assert.deepEqual(ended, ['fulfilled', 'rejected']);
    await two.a.follow();
    await filled.check();
    await two.b.follow();
    assert.ok(hasSearchIndex(two.b.store.schema().tables.get(filled.className) ?? assert.fail()));
  });

  test('a store that is closed meanwhile does not wait for it; the database goes on, and the next finds it', async () => {
    const other = await StoreProcess.start(two.place.url, records);
    const release = await hold();
    const filling = assert.rejects(
      other.store.fillSearchIndex(filled.className, () => false),
      { key: 'unavailable' },
    );
    await until(isBuilding);
    const [builder] = await builders();
    await other.stop();
    await filling;
    await filled.disturb();
    const again = filled.fill();
    await wait(500);
    assert.deepEqual(await builders(), [builder]);
    await release();
    await again;
    await filled.check();
  });

  test('a service that ends says enough, and what is under way goes on', async () => {
    const release = await hold();
    let shouldStop = false;
    const filling = filled.fill(() => shouldStop);
    await until(isBuilding);
    shouldStop = true;
    await filling;
    assert.equal((await builders()).length, 1);
    await release();
    await until(isOver);
    await filled.fill();
    await filled.check();
  });

  test('a change of the table ends it, and does not wait; later it is created again', async () => {
    const release = await hold();
    const filling = assert.rejects(filled.fill(), { key: 'unavailable' });
    await until(isBuilding);
    await filled.change({ kind: 'addField', className: filled.className, name: 'More', type: 'String' });
    await filling;
    assert.ok(await isOver());
    await release();
    await filled.disturb();
    await filled.fill();
    await filled.check();
  });

  test('a field that goes meanwhile takes the index along; another one is filled again', async () => {
    const release = await hold();
    const filling = assert.rejects(filled.fill(), { key: 'unavailable' });
    await until(isBuilding);
    await filled.change({ kind: 'dropField', className: filled.className, name: 'Mobile' });
    await filling;
    await release();
    assert.equal(filled.table.indexes.has(SEARCH_INDEX), false);
    await filled.index();
    await filled.fill();
    await filled.check();
  });
});
