import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFullText, textScores } from '../../sql/testing/full-text-cases.ts';
import { TestTables } from '../testing/tables.ts';

const tables = new TestTables();
await testFullText(tables);

test('relevance for a caller who sees all records is of all of them', async () => {
  const before = await textScores(tables, { terms: ['shop'] }, false);
  tables.insert('T', { objectId: 'g', body: 'shop' });
  const after = await textScores(tables, { terms: ['shop'] }, false);
  assert.notEqual(after.get('b'), before.get('b'));
});
