import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyEdits, type JsonEdit } from './apply.ts';
import { applyEditsApart } from './edit-thread.ts';

const long = JSON.stringify(Array.from({ length: 30_000 }, (_, n) => `element ${n}`));
const edits: readonly JsonEdit[] = [
  { path: [], op: 'addUnique', objects: ['element 7', 'new', { __type: 'Pointer', className: 'Accounts', objectId: 'a' }] },
  { path: ['0'], op: 'set', value: 'first' },
];

test('edits of a long value are applied on a thread, with the same result', async () => {
  const applied = applyEditsApart(long, edits, 'Array', 'Table.List');
  assert.ok(applied instanceof Promise);
  assert.equal(await applied, applyEdits(long, edits, 'Array', 'Table.List'));
});

test('those of a short value are applied at once', () => {
  assert.equal(applyEditsApart('["a"]', edits, 'Array', ''), applyEdits('["a"]', edits, 'Array', ''));
});

test('an error of the thread is that of the edit, and the thread goes on', async () => {
  const wrong: JsonEdit = { path: ['0'], op: 'increment', amount: 1 };
  const applied = applyEditsApart(long, [wrong], 'Array', 'Table.List');
  await assert.rejects(async () => applied, { key: 'placeMismatch', code: 111, message: /Table\.List\.0/ });
  assert.equal(await applyEditsApart(long, edits, 'Array', ''), applyEdits(long, edits, 'Array', ''));
});
