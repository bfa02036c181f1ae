import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as records from '../../../records/index.ts';
import { type TestDatabase, testDatabase } from '../testing/server.ts';
import { StoreProcess, statuses } from '../testing/store-process.ts';

describe('edits that a record refuses', () => {
  let place: TestDatabase;
  let store: StoreProcess<Awaited<ReturnType<typeof records.createRecord>>>;

  before(async () => {
    place = await testDatabase();
    store = await StoreProcess.start(place.url, records);
    await store.create('T', { objectId: 'r', first: [], second: [] });
  });
  after(async () => {
    await store?.stop();
    await place?.drop();
  });

  test('the first column tells why', async () => {
    await assert.rejects(store.update('T', 'r', { 'second.x': 1, 'first.x': 1 }), /T\.first\.x/);
  });

  test('they keep their turn where another write of the turn fails', async () => {
    const outcomes = await Promise.allSettled([
      store.update('T', 'r', { 'first.x': 1 }),
      store.create('T', { objectId: 'r' }),
      store.remove('T', 'r'),
    ]);
    assert.deepEqual(statuses(outcomes), [111, 137, 'ok']);
  });
});
