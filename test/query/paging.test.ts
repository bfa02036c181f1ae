/** Pages stay stable during writes, and Strings sort by bytes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, createMany, find, onEachEngine, type Row, tableName } from '../support/query.ts';

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

onEachEngine((get) => {
  test('Records/Query order: String order is bytewise', async () => {
    const table = tableName('Bytes');
    const words = ['b', 'B', 'a', 'Z', 'é', 'e\u0301', 'אב', '\u{1F600}', '\uFFFD', 'ab', 'A', ' ', '~', '10', '9', ''];
    await createMany(
      get(),
      table,
      words.map((s) => ({ s })),
    );
    const ordered = [...words].sort(bytewise);
    assert.deepEqual(
      (await find(get(), table, { order: 's' })).map((row) => row.s),
      ordered,
    );
    assert.deepEqual(
      (await find(get(), table, { order: '-s' })).map((row) => row.s),
      ordered.reverse(),
    );
  });

  test('Records/Query: order=objectId with objectId $gt visits every record exactly once while others write', async () => {
    const table = tableName('Pages');
    const ids = await createMany(
      get(),
      table,
      Array.from({ length: 250 }, (_, n) => ({ n })),
    );
    const seen: string[] = [];
    let last = '';
    for (;;) {
      const where: Row = last === '' ? {} : { objectId: { $gt: last } };
      const page = await find(get(), table, { where, order: 'objectId', limit: 40 });
      await Promise.all([create(get(), table, { n: -1 }), create(get(), table, { n: -2 })]);
      if (page.length === 0) break;
      seen.push(...page.map((row) => String(row.objectId)));
      last = seen.at(-1) ?? '';
    }
    assert.deepEqual(seen, [...new Set(seen)].sort(bytewise));
    assert.deepEqual(
      ids.filter((id) => !seen.includes(id)),
      [],
    );
  });

  test('Records/Query: pages by skip over equal values are stable', async () => {
    const table = tableName('Pages');
    const ids = await createMany(
      get(),
      table,
      Array.from({ length: 120 }, () => ({ same: 1 })),
    );
    const pages = await Promise.all(
      [0, 50, 100].map((skip) => find(get(), table, { order: '-same', skip, limit: 50, keys: 'objectId' })),
    );
    assert.deepEqual(
      pages.flat().map((row) => row.objectId),
      [...ids].sort(bytewise),
    );
  });

  test('Records/Query: createdAt pages, newest first, hold every record', async () => {
    const table = tableName('Pages');
    const ids = await createMany(
      get(),
      table,
      Array.from({ length: 60 }, (_, n) => ({ n })),
    );
    const first = await find(get(), table, { order: '-createdAt', limit: 30 });
    const second = await find(get(), table, { order: '-createdAt', limit: 30, skip: 30 });
    assert.deepEqual([...first, ...second].map((row) => String(row.objectId)).sort(bytewise), [...ids].sort(bytewise));
  });
});
