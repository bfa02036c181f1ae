// The stored contents of a system, read in chunks, for the unit tests of both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableOf } from '../../../schema/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { columnFields, columnsOf } from '../../column-values.ts';
import type { Store } from '../../port.ts';
import { CHUNK_BYTES, chunkedRows, rowsAmong, type StoredRow } from '../../raw-access.ts';
import { tableChanges } from './tables.ts';

/** Defines the tests. @param store one without a table `Held` */
export async function testContents(store: Store): Promise<void> {
  // Names that the statements use themselves.
  const named = { before: 'Number', bytes: 'Number', sized: 'Number', summed: 'Number', s: 'Number', t: 'Number' } as const;
  await store.write({
    plan: () => ({ changes: tableChanges('Held', { text: 'String', list: 'Array', n: 'Number', ...named }), mutations: [] }),
  });
  const table = tableOf(store.schema(), 'Held');

  /** Adds records whose texts have these numbers of bytes, in characters of two bytes. */
  const add = async (...lengths: number[]): Promise<void> => {
    for (const [at, length] of lengths.entries()) {
      const text = 'ש'.repeat(length / 2);
      const values = { objectId: `h${at}-${length}`, createdAt: 1, updatedAt: 1, text, list: JSON.stringify([text]), n: at };
      await store.write({
        plan: () => ({ changes: [], mutations: [{ kind: 'insert', table, values: columnsOf(table, values) }] }),
      });
    }
  };

  test('contents: rows are bounded by bytes, each comes once, and one comes however large it is', async () => {
    const small = Array.from({ length: 30 }, () => 2);
    const large = Array.from({ length: 6 }, () => 1_000_000);
    const lengths = [...small, ...large, CHUNK_BYTES, ...small.slice(0, 3)];
    await add(...lengths);
    const found: unknown[] = [];
    const rowsOf: number[] = [];
    for await (const rows of chunkedRows(store.raw, table, 0)) {
      const bytes = rows.map((row) => row.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')), 0));
      const beforeLast = bytes.slice(0, -1).reduce((sum, one) => sum + one, 0);
      assert.ok(beforeLast < CHUNK_BYTES + 4_000, `${rows.length} rows: ${bytes.join()}`);
      rowsOf.push(rows.length);
      found.push(...rows.map((row) => row.find((value) => typeof value === 'string' && value.startsWith('h'))));
    }
    assert.deepEqual(
      found,
      lengths.map((length, at) => `h${at}-${length}`),
    );
    assert.ok(Math.max(...rowsOf) > 5, 'small ones come together');
  });

  test('contents: rows by their ids, in creation order and bounded by bytes', async () => {
    const ids = ['h31-1000000', 'h5-2', 'none', "it's", 'h30-1000000', 'h0-2', 'h32-1000000', 'h33-1000000', 'h34-1000000'];
    const found: string[][] = [];
    for await (const rows of rowsAmong(store.raw, table, ids))
      found.push(rows.map((row) => String(row.find((value) => typeof value === 'string' && value.startsWith('h')))));
    const known = ids
      .filter((id) => id.startsWith('h'))
      .toSorted((a, b) => Number(a.slice(1).split('-')[0]) - Number(b.slice(1).split('-')[0]));
    assert.deepEqual(found.flat(), known);
    assert.ok(found.length > 1, 'large ones come apart');
  });

  test('contents: rows are added in whatever order, several at a time, and what is created later comes after', async () => {
    await store.write({ plan: () => ({ changes: tableChanges('Added', { n: 'Number' }), mutations: [] }) });
    const added = tableOf(store.schema(), 'Added');
    const rowAt = (place: number): StoredRow => {
      const values = new Map<string, StoredValue>([
        ['objectId', `p${place}`],
        ['createdAt', 1],
        ['updatedAt', 1],
        ['n', place],
      ]);
      return [place, ...columnFields(added).map(({ name }) => values.get(name) ?? null)];
    };
    const chunk = (first: number) => store.raw.addRows(added, [rowAt(first), rowAt(first + 1)]);
    await Promise.all([50, 10, 40, 30, 20].map(chunk));
    await chunk(1);
    const last = columnsOf(added, { objectId: 'later', createdAt: 1, updatedAt: 1 });
    await store.write({ plan: () => ({ changes: [], mutations: [{ kind: 'insert', table: added, values: last }] }) });
    assert.equal(await store.raw.count(added), 13);
    const places = (await store.raw.rows(added, 0, 100)).map(([place]) => place);
    assert.deepEqual(places.slice(0, -1), [1, 2, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51]);
    assert.ok((places.at(-1) ?? 0) > 51, places.join());
  });
}
