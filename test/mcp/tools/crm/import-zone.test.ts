/** Import-Records reads times without a zone in the system's zone, whatever the zone of the process. Reference: tools.md#import-records. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { date, storeOf } from '../../../support/records.ts';
import { anyEngine, type Service } from '../../../support/service.ts';
import { sharedService } from '../../../support/shared.ts';
import { byKey } from '../callers.ts';

for (const engine of anyEngine)
  describe(`import in a process of another zone on ${engine}`, () => {
    let service: Service;
    before(async () => {
      service = await sharedService(engine, { TZ: 'Asia/Jerusalem' });
    });
    const store = storeOf(() => service);
    const { use } = byKey(store);

    test('a Date without a zone finds the record that it was imported to', async () => {
      const className = await store.table({ Name: 'String', When: 'Date' });
      const id = await store.create(className, { When: date('2026-01-31T09:00:00.000Z') });
      const rows = [date('2026-01-31T09:00:00'), '2026-01-31T09:00', '2026-01-31T11:00+02:00'].map((When) => ({
        When,
        Name: 'x',
      }));
      for (const row of rows) {
        const order = { table: className, rows: [row], matchOn: ['When'], onDuplicate: 'update' };
        const { results } = await use('Import-Records', order);
        assert.equal(results[0].success?.objectId, id, JSON.stringify([row, results]));
      }
      assert.equal((await store.all(className)).length, 1);
    });
  });
