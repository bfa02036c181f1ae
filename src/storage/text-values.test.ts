import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countRecords, escapedOf } from './text-values.ts';

const records = ['{"objectId":"a"}', '{"objectId":"b","o":{"list":[{"a":"]},{"}],"t":"\\\\\\"}]"}}', '{}', '{"objectId":"ש\\n"}'];
const array = `[${records.join()}]`;

test('the records of an array are counted, whatever stands inside them', () => {
  assert.equal(countRecords(array), records.length);
  assert.equal(countRecords('[]'), 0);
});

test('texts that stand inside a JSON string: as the store wrote them, else made from the array, whole or in pieces', async () => {
  const escaped = records.map((record) => JSON.stringify(record).slice(1, -1));
  async function* pieces() {
    for (const piece of array) yield piece;
  }
  assert.deepEqual(await escapedOf({ results: array }), escaped);
  assert.deepEqual(await escapedOf({ results: pieces() }), escaped);
  assert.deepEqual(await escapedOf({ results: '', escaped: ['x'] }), ['x']);
  assert.deepEqual(await escapedOf({ results: '[]' }), []);
});
