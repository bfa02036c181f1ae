/** Concurrent imports into one table that match rows run one after another. Reference: tools.md#import-records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/records.ts';
import { onEachEngine } from '../engines.ts';

onEachEngine('imports at once', ({ use, table, all }) => {
  test('Import-Records: of the same rows, sent twice at once, each is made once', async () => {
    const className = await table({ Phone: 'String' });
    const rows = Array.from({ length: 20 }, (_, n) => ({ Phone: `05012345${n + 10}` }));
    const order = { table: className, rows, matchOn: ['Phone'], onDuplicate: 'skip' };
    const answers = (await Promise.all([use('Import-Records', order), use('Import-Records', order)])) as Json[];
    assert.deepEqual(answers.map(({ created, skipped }) => [created, skipped]).sort(), [
      [0, 20],
      [20, 0],
    ]);
    assert.equal((await all(className)).length, 20);
  });
});
