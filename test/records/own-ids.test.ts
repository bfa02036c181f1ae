import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, path, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

const unusual = [
  'a',
  '1',
  'Ab12345678',
  'longer-than-ten-characters',
  'with space',
  'a.b',
  'a/b',
  'a?b=c',
  'a#b',
  'a+b',
  'a&b',
  'a:b',
  '100%',
  '%41',
  '*',
  "o'brien",
  'quo"te',
  'semi;--colon',
  'back\\slash',
  'null',
  'constructor',
  '__proto__',
  'שלום',
  '🙂',
];

const duplicate = { code: 137, error: 'A duplicate value for a field with unique values was provided' };

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    for (const id of unusual)
      test(`Records: a caller may send its own objectId (${id})`, async () => {
        const table = await store.table({ Name: 'String' });
        assert.equal(await store.create(table, { objectId: id, Name: 'a' }), id);
        assert.equal((await store.read(table, id)).objectId, id);
        assert.equal((await store.update(table, id, { Name: 'b' })).objectId, id);
        const found = await store.call('GET', path(table), { query: { where: { objectId: id } } });
        assert.deepEqual(found.body.results, [await store.read(table, id)]);
        assert.equal(found.body.results[0].Name, 'b');
        assert.equal((await store.remove(table, id)).status, 200);
        assertRefused(await store.get(table, id), { code: 101 });
      });

    for (const length of [101, 300, 4000])
      test(`Records: a caller may send its own objectId of any length (${length} characters)`, async () => {
        const table = await store.table({ Name: 'String' });
        const id = 'x'.repeat(length);
        assert.equal(await store.create(table, { objectId: id }), id);
        assert.equal((await store.read(table, id)).objectId, id);
        await store.update(table, id, { Name: 'b' });
        assert.equal((await store.remove(table, id)).status, 200);
      });

    test('Records: own objectIds are distinguished exactly (case, spaces, digits that read as one number)', async () => {
      const table = await store.table({ Name: 'String' });
      const ids = ['abc', 'ABC', 'abc ', ' abc', '1', '01', '1.0', '1e0', '+1'];
      for (const id of ids) assert.equal(await store.create(table, { objectId: id, Name: id }), id);
      for (const id of ids) assert.equal((await store.read(table, id)).Name, id);
    });

    test('Records: the API key may send its own objectId too', async () => {
      const table = await store.table();
      assert.equal(await store.create(table, { objectId: 'mine' }, { as: 'apiKey' }), 'mine');
    });

    test('Records: an objectId that exists is 137, and the record stays as it was', async () => {
      const table = await store.table({ Name: 'String' });
      await store.create(table, { objectId: 'mine', Name: 'first' });
      const before = await store.snapshot(table);
      assertRefused(await store.post(table, { objectId: 'mine', Name: 'second' }), duplicate);
      assertRefused(await store.post(table, { objectId: 'mine', New: 5 }), duplicate);
      assert.equal(await store.snapshot(table), before);
    });

    test('Records: the same objectId in two tables is two records', async () => {
      const [one, two] = [await store.table({ Name: 'String' }), await store.table({ Name: 'String' })];
      await store.create(one, { objectId: 'mine', Name: 'one' });
      await store.create(two, { objectId: 'mine', Name: 'two' });
      assert.equal((await store.read(one, 'mine')).Name, 'one');
      assert.equal((await store.read(two, 'mine')).Name, 'two');
    });

    test('Records: an objectId is free again after its record was deleted', async () => {
      const table = await store.table({ Name: 'String' });
      await store.create(table, { objectId: 'mine', Name: 'first' });
      await store.remove(table, 'mine');
      await store.create(table, { objectId: 'mine' });
      assert.equal((await store.read(table, 'mine')).Name, undefined);
    });

    const refused: [string, string][] = [
      ['empty', '""'],
      ['a NUL', '"a\\u0000b"'],
      ['a lone surrogate', '"a\\ud800"'],
      ['an object', '{"a":1}'],
      ['an array', '["a"]'],
      ['a boolean', 'true'],
      ['a query operator', '{"$ne":""}'],
      ['a field operator', '{"__op":"Increment","amount":1}'],
    ];
    for (const [what, text] of refused)
      test(`Records: an own objectId that is ${what} is refused`, async () => {
        const table = await store.table();
        const answer = await store.post(table, `{"objectId":${text}}`);
        assert.equal(answer.status, 400, answer.text);
        assert.equal(typeof answer.body.code, 'number');
        assert.deepEqual(await store.all(table), []);
      });

    test('Records/Update: an objectId in the body never renames the record', async () => {
      const table = await store.table({ Name: 'String' });
      const id = await store.create(table, { Name: 'a' });
      const answer = await store.put(table, id, { objectId: 'other', Name: 'b' });
      assert.ok(answer.status < 500, answer.text);
      assert.equal((await store.read(table, id)).objectId, id);
      assertRefused(await store.get(table, 'other'), { code: 101 });
    });
  });
