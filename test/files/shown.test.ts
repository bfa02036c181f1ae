/** File fields in queries, includes and projections; removal of a file from a record. Reference: types.md#file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertServed, credentials, fileObject, shownFile, shownPrivate } from '../support/files.ts';
import { type Json, path, pointer } from '../support/records.ts';
import { onEachEngine } from './stores.ts';

onEachEngine((files) => {
  const { service, call } = files;
  const ids = async (table: string, where: object) => {
    const { status, body, text } = await call('GET', path(table), { query: { where } });
    assert.equal(status, 200, text);
    return body.results.map((row: Json) => row.objectId).sort();
  };

  for (const type of ['File', 'PrivateFile'] as const) {
    for (const [what, value] of [
      ['null', null],
      ['{__op: Delete}', { __op: 'Delete' }],
    ] as const)
      test(`Field operators: a file is taken out by ${what} (${type})`, async () => {
        const file = await files.upload('a.txt', 'text');
        const { table, id } = await files.attached(type, file);
        await files.update(table, id, { F: value });
        const record = await files.read(table, id);
        assert.equal(record.F ?? null, null);
        assert.deepEqual(await ids(table, { F: { $exists: true } }), []);
      });

    test(`a file is replaced by another (${type})`, async () => {
      const [one, two] = [await files.upload('a.txt', 'one'), await files.upload('a.txt', 'two')];
      const place = await files.attached(type, one);
      await files.update(place.table, place.id, { F: fileObject(two) });
      const { F } = await files.read(place.table, place.id);
      assert.equal(F.name, two.name);
      await assertServed(F.url, 'two', credentials(service(), { as: 'master' }));
    });

    test(`Query: in \`where\` a File is its name (${type})`, async () => {
      const [one, two] = [await files.upload('a.txt', 'one'), await files.upload('b.txt', 'two')];
      const table = await files.table({ F: type });
      const first = await files.create(table, { F: fileObject(one) });
      const second = await files.create(table, { F: fileObject(two) });
      const empty = await files.create(table, {});
      const { F } = await files.read(table, first);
      assert.deepEqual(await ids(table, { F }), [first]);
      assert.deepEqual(await ids(table, { F: { __type: 'File', name: one.name } }), [first]);
      assert.deepEqual(await ids(table, { F: { ...F, url: 'https://elsewhere.example' } }), [first]);
      assert.deepEqual(await ids(table, { F: { $in: [fileObject(one), fileObject(two)] } }), [first, second].sort());
      assert.deepEqual(await ids(table, { F: { $exists: true } }), [first, second].sort());
      assert.deepEqual(await ids(table, { F: { $exists: false } }), [empty]);
      assert.deepEqual(await ids(table, { F: { $ne: fileObject(one) } }), [second, empty].sort());
      assert.deepEqual(await ids(table, { F: { __type: 'File', name: 'never.txt' } }), []);
    });
  }

  test('Query: keys shows a File as any field, excludeKeys hides it', async () => {
    const file = await files.upload('a.txt', 'text');
    const table = await files.table({ A: 'File', B: 'PrivateFile', N: 'Number' });
    const id = await files.create(table, { A: fileObject(file), B: fileObject(file), N: 1 });
    const { A, B } = await files.read(table, id);
    const [one] = (await call('GET', path(table), { query: { keys: 'A' } })).body.results;
    assert.deepEqual([one.A, 'B' in one, 'N' in one], [A, false, false]);
    const [two] = (await call('GET', path(table), { query: { keys: 'B,N' } })).body.results;
    assert.deepEqual([two.B, 'A' in two, two.N], [B, false, 1]);
    const [three] = (await call('GET', path(table), { query: { excludeKeys: 'A,N' } })).body.results;
    assert.deepEqual([three.B, 'A' in three, 'N' in three], [B, false, false]);
  });

  test('Query: include shows the files of linked records at their own addresses', async () => {
    const file = await files.upload('a.txt', 'text');
    const leaf = await files.table({ A: 'File', B: 'PrivateFile' });
    const middle = await files.table({ P: { type: 'Pointer', targetClass: leaf }, B: 'PrivateFile' });
    const top = await files.table({ P: { type: 'Pointer', targetClass: middle }, L: 'Array' });
    const both = { A: fileObject(file), B: fileObject(file) };
    const c = await files.create(leaf, { ...both, objectId: 'ל 1' });
    const b = await files.create(middle, { P: pointer(leaf, c), B: fileObject(file) });
    const a = await files.create(top, { P: pointer(middle, b), L: [pointer(leaf, c), pointer(middle, b)] });
    const private_ = (table: string, id: string) => shownPrivate(service(), file.name, { table, id, field: 'B' });
    for (const record of [
      (await call('GET', path(top, a), { query: { include: 'P.P,L' } })).body,
      (await call('GET', path(top), { query: { include: 'P.P,L' } })).body.results[0],
    ]) {
      assert.deepEqual(record.P.B, private_(middle, b));
      assert.deepEqual([record.P.P.A, record.P.P.B], [shownFile(service(), file.name), private_(leaf, c)]);
      assert.deepEqual(
        [record.L[0].A, record.L[0].B, record.L[1].B],
        [shownFile(service(), file.name), private_(leaf, c), private_(middle, b)],
      );
      await assertServed(record.L[0].B.url, 'text', credentials(service(), { as: 'master' }));
    }
  });

  test('Query: many records, each file at the address of its record', async () => {
    const table = await files.table({ B: 'PrivateFile', N: 'Number' });
    const uploads = await Promise.all(Array.from({ length: 5 }, (_, n) => files.upload(`${n}.txt`, `${n}`)));
    const requests = Array.from({ length: 500 }, (_, N) => ({
      method: 'POST',
      path: path(table),
      body: { N, B: fileObject(uploads[N % 5] as never) },
    }));
    await call('POST', '/platform/batch', { body: { requests } });
    const { results } = (await call('GET', path(table), { query: { limit: 1_000, order: 'N' } })).body;
    assert.equal(results.length, 500);
    for (const [n, { objectId, B }] of results.entries()) {
      const { name } = uploads[n % 5] as { name: string };
      assert.deepEqual(B, shownPrivate(service(), name, { table, id: objectId, field: 'B' }));
    }
  });

  test('Field operators: the answer of a PUT with operators names no file that it did not', async () => {
    const { table, id } = await files.attached('File', await files.upload('a.txt', 'text'));
    const body = await files.update(table, id, { N: { __op: 'Increment', amount: 2 } });
    assert.deepEqual(Object.keys(body).sort(), ['N', 'objectId', 'updatedAt']);
  });

  test('Field operators/SetOnInsert: a File', async () => {
    const [one, two] = [await files.upload('a.txt', 'one'), await files.upload('a.txt', 'two')];
    const table = await files.table({ F: 'File' });
    const id = await files.create(table, { F: { __op: 'SetOnInsert', amount: fileObject(one) } });
    assert.deepEqual((await files.read(table, id)).F, shownFile(service(), one.name));
    await files.update(table, id, { F: { __op: 'SetOnInsert', amount: fileObject(two) } });
    assert.deepEqual((await files.read(table, id)).F, shownFile(service(), one.name));
  });
});
