import assert from 'node:assert/strict';
import { test } from 'node:test';
import { master } from '../../access/index.ts';
import { oneMore } from '../../crm/queries/records.ts';
import { jsonBytes } from '../../kernel/json.ts';
import { newTable } from '../../schema/defaults.ts';
import type { ToolCall } from '../definition/tool.ts';
import { answerOf, countFitting, findPage, MAX_RESULT_BYTES, pageOf } from './page.ts';

const rows = (count: number, size = 1) => Array.from({ length: count }, (_, at) => ({ at, text: 'x'.repeat(size) }));

test('a page that has all rows says nothing of more', () => {
  assert.deepEqual(pageOf(rows(3), { limit: 3 }), { results: rows(3) });
  assert.deepEqual(pageOf([], { limit: 5, skip: 7 }), { results: [] });
  assert.deepEqual(pageOf(rows(2), { limit: 5 }), { results: rows(2) });
});

test('a row beyond the limit is left for the next page, which begins where this one ends', () => {
  assert.deepEqual(pageOf(rows(6), { limit: 5, skip: 10 }), { results: rows(5), nextSkip: 15 });
  assert.equal(oneMore(5), 6);
  assert.equal(oneMore(0), 0);
});

test('rows that would make the answer too large are left for the next page, and the answer says so', () => {
  const page = pageOf(rows(100, 10_000), { limit: 100, skip: 3 });
  assert.equal(page.truncated, true);
  assert.equal(page.nextSkip, 3 + page.results.length);
  assert.ok(page.results.length >= 5 && jsonBytes(page) <= MAX_RESULT_BYTES);
});

test('the size is that in bytes, not in characters', () => {
  const hebrew = Array.from({ length: 10 }, () => 'ש'.repeat(5_000));
  assert.equal(countFitting(hebrew, 50_000), 4);
});

test('one row that is too large alone does not end in a page without a way on', () => {
  const page = pageOf(rows(2, 70_000), { limit: 2, skip: 4 });
  assert.deepEqual([page.results, page.truncated, page.nextSkip], [[], true, 5]);
  assert.match(String(page.hint), /keys/);
  const last = pageOf([{ objectId: 'x', text: 'x'.repeat(70_000) }], { limit: 2 });
  assert.deepEqual([last.results, last.truncated, last.nextSkip], [[], true, undefined]);
  assert.match(String(last.hint), /^The record x alone .* keys/);
});

test('a page of records has the rows and members of one of values, however long its records are', async () => {
  const table = newTable('T', 'T');
  const page = async (texts: readonly string[], limit: number, skip: number) => {
    const escaped = texts.map((text) => JSON.stringify(text).slice(1, -1));
    const schema = { version: 0, tables: new Map([['T', table]]), referencesTo: new Map() };
    const store = { schema: () => schema, reader: { find: async () => ({ results: '', escaped }) } };
    const found = await findPage({ store, principal: master } as unknown as ToolCall, 'T', { limit, skip });
    return answerOf(found, found.end).text();
  };
  for (const size of [0, 1, 300, 3_000, 30_000, 70_000])
    for (const letter of ['x', 'ש', '"', '\\'])
      for (const limit of [0, 2, 5]) {
        const records = Array.from({ length: limit === 0 ? 0 : 6 }, (_, at) => ({
          objectId: `id${at}`,
          text: letter.repeat(size),
        }));
        const within = records.slice(0, limit + 1);
        const texts = within.map((record) => JSON.stringify(record));
        assert.equal(
          await page(texts, limit, 7),
          JSON.stringify(pageOf(within, { limit, skip: 7 })),
          `${size} ${letter} ${limit}`,
        );
      }
});
