/** Import-Records reads times without a zone in the system's zone, whatever the zone of the process. Reference: tools.md#import-records. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { date } from '../../../support/records.ts';
import { engines } from '../../../support/service.ts';
import { byKey } from '../callers.ts';
import { useSecondStore } from '../second.ts';

// Independent of the engine; the other suites on this service have drawn the last one.
for (const engine of engines.slice(-1))
  describe(`import in a process of another zone on ${engine}`, () => {
    const store = useSecondStore(engine);
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
