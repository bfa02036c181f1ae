/**
 * Writes create the fields that are new to a table. Many items with the same new fields cost little more than without. Reference:
 * records.md#new-fields-and-tables.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { onEachEngine, tableName } from '../support/query.ts';

const FIELDS = Array.from({ length: 111 }, (_, n) => `field${n}`);

onEachEngine((get) => {
  const send = async (table: string, items: number, fieldsOf: (item: number) => readonly string[]) => {
    const requests = Array.from({ length: items }, (_, item) => ({
      method: 'POST',
      path: `/platform/classes/${table}`,
      body: Object.fromEntries(fieldsOf(item).map((name) => [name, 'x'])),
    }));
    const answer = await get().call('POST', '/platform/batch', { body: { requests } });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    return answer.body as { success?: object }[];
  };
  const isMade = ({ success }: { success?: object }) => success !== undefined;

  test('Batch: a new table with fields that all items bring; others are answered meanwhile', async () => {
    const table = tableName('New');
    let isDone = false;
    const waited = (async () => {
      let longestMs = 0;
      while (!isDone) {
        const startedAt = performance.now();
        await (await fetch(`${get().url}/health/live`)).text();
        longestMs = Math.max(longestMs, performance.now() - startedAt);
        await wait(10);
      }
      return longestMs;
    })();
    const answers = await send(table, 1_000, () => FIELDS).finally(() => {
      isDone = true;
    });
    assert.ok(answers.every(isMade));
    // Planning each item's fields separately blocked all other requests for 16 seconds on an idle machine, 42 on PostgreSQL.
    assert.ok((await waited) < 6_000, `${await waited} ms`);
    const { body } = await get().call('GET', `/platform/classes/${table}`, { query: { limit: 0, count: 1 } });
    assert.equal(body.count, 1_000);
  });

  test('Batch: items that bring the fields in an order of their own, or fields of their own, to a table that is there', async () => {
    const table = tableName('Old');
    await get().call('POST', `/platform/classes/${table}`, { body: { field0: 'x' } });
    const answers = await send(table, 400, (item) => [
      ...FIELDS.slice(item % 111),
      ...FIELDS.slice(0, item % 111),
      `own${item % 20}`,
    ]);
    assert.ok(answers.every(isMade));
    const { body } = await get().call('GET', `/platform/schemas/${table}`);
    assert.equal(Object.keys(body.fields).filter((name) => /^(?:field|own)\d+$/.test(name)).length, 131);
  });

  test('Batch: a new field has the type of its first value, and each item is alone', async () => {
    const table = tableName('Typed');
    const post = (body: object) => ({ method: 'POST', path: `/platform/classes/${table}`, body });
    const requests = [post({ a: 1 }), post({ a: 'x', b: 1 }), post({ b: 'x' }), post({ b: false }), post({ a: 2, b: 'y' })];
    const answer = await get().call('POST', '/platform/batch', { body: { requests } });
    assert.deepEqual(
      answer.body.map(({ error }: { error?: { code: number } }) => error?.code ?? 0),
      [0, 111, 0, 111, 0],
    );
  });
});
