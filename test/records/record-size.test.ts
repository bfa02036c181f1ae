/**
 * A record has at most 20 MB in all its values together, by whichever operation it grows; a larger one can be made smaller. Reference:
 * records.md#size-of-a-record.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertError, create, defineTable, onEachEngine, tableName } from '../support/query.ts';

const MB = 1024 * 1024;
const text = (size: number) => 'x'.repeat(size * MB);

onEachEngine((get) => {
  const table = tableName('Sizes');
  const path = (id: string) => `/platform/classes/${table}/${id}`;
  const put = (id: string, body: object) => get().call('PUT', path(id), { body });
  const refused = async (id: string, body: object) => assertError(await put(id, body), 413, 116, /too large/);
  before(() =>
    defineTable(get(), table, {
      a: 'String',
      b: 'String',
      c: 'String',
      list: 'Array',
      other: 'Array',
      doc: 'Object',
      n: 'Number',
    }),
  );

  test('Records/Update: values that fit by themselves are refused together, and nothing of them is written', async () => {
    const id = await create(get(), table, { a: text(9), n: 1 });
    assert.equal((await put(id, { b: text(9) })).status, 200);
    await refused(id, { c: text(3), n: 2 });
    await refused(id, { doc: { deep: text(3) }, n: 2 });
    await refused(id, { 'doc.deep': text(3) });
    for (const op of ['Add', 'AddUnique']) await refused(id, { list: { __op: op, objects: [text(3)] }, n: 2 });
    const { body } = await get().call('GET', path(id), { query: { keys: 'n,c,list,doc' } });
    assert.deepEqual([body.n, body.c, body.list, body.doc], [1, undefined, undefined, undefined]);
    // Its remaining values, and changes that make it smaller.
    assert.equal((await put(id, { c: text(1), n: 3 })).status, 200);
    assert.equal((await put(id, { a: text(2), c: text(8) })).status, 200);
  });

  test('Records: operators grow a record in small steps, so far and no further', async () => {
    const id = await create(get(), table, { a: text(10), b: text(9), list: [] });
    let grown = 0;
    for (; grown < 8; grown++) {
      const { status } = await put(id, { [grown % 2 ? 'list' : 'other']: { __op: 'Add', objects: [text(0.25)] } });
      if (status !== 200) break;
    }
    assert.equal(grown, 3);
    assert.equal((await put(id, { list: { __op: 'Delete' } })).status, 200);
  });

  test('Records: numbers that are written out longer than they were sent count as they are stored', async () => {
    const numbers = `[${'1e20,'.repeat(1_500_000)}1]`;
    const answer = await get().call('POST', `/platform/classes/${table}`, { body: `{"list":${numbers}}` });
    assertError(answer, 413, 116, /too large/);
    const id = await create(get(), table, { list: [1] });
    await refused(id, `{"list":{"__op":"Add","objects":${numbers}}}` as unknown as object);
  });

  test('Batch: edits behind one that is too large are made as if it had not been', async () => {
    const id = await create(get(), table, { a: text(10), b: text(9), list: ['first'] });
    const elements = ['a', text(3), 'b', 'c'];
    const requests = elements.map((element) => {
      const body = { list: { __op: 'Add', objects: [element] } };
      return { method: 'PUT', path: path(id), body };
    });
    const { body } = await get().call('POST', '/platform/batch', { body: { requests } });
    assert.deepEqual(
      body.map(({ error }: { error?: { code: number } }) => error?.code),
      [undefined, 116, undefined, undefined],
    );
    const record = await get().call('GET', path(id), { query: { keys: 'list' } });
    assert.deepEqual(record.body.list, ['first', 'a', 'b', 'c']);
  });

  test('Batch: an item that is too large fails alone', async () => {
    const id = await create(get(), table, { a: text(12) });
    const requests = [{ b: text(9) }, { n: 7 }].map((body) => ({ method: 'PUT', path: path(id), body }));
    const { body } = await get().call('POST', '/platform/batch', { body: { requests } });
    assert.equal(body[0].error.code, 116);
    assert.ok(body[1].success);
  });
});
