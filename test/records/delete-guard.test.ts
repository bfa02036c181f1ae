import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertRefused, pointer, unique, useStore } from '../support/records.ts';
import { engines } from '../support/service.ts';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);

    /** Creates a target record, and a table with a Pointer P (and Q) to its table. */
    const scene = async () => {
      const target = await store.table({ Name: 'String' });
      const type = { type: 'Pointer', targetClass: target };
      const table = await store.table({
        P: type,
        Q: type,
        A: 'Array',
        O: 'Object',
        R: { type: 'Relation', targetClass: target },
      });
      const id = await store.create(target, { Name: 'kept' });
      return { target, table, id, link: pointer(target, id) };
    };

    const blocked = async (target: string, id: string, table: string, key: string) => {
      const error = `Pointer to Object ${id} exists in table ${table} in key ${key}. Delete is not allowed.`;
      assertRefused(await store.remove(target, id), { code: 119, error });
      assert.equal((await store.read(target, id)).objectId, id);
    };

    test('Errors/119: Pointer to Object <id> exists in table <T> in key <F>. Delete is not allowed.', async () => {
      const { target, table, id, link } = await scene();
      await store.create(table, { P: link });
      await blocked(target, id, table, 'P');
      const answer = await store.remove(target, id, { as: 'apiKey' });
      assertRefused(answer, { code: 119 });
    });

    test('Records/Delete: each of many Pointer fields blocks, and none of them if all are empty', async () => {
      const target = await store.table({});
      const names = Array.from({ length: 130 }, (_, at) => `P${at}`);
      const table = await store.table(Object.fromEntries(names.map((name) => [name, { type: 'Pointer', targetClass: target }])));
      const id = await store.create(target, {});
      const pointing = await store.create(table, { P0: pointer(target, id) });
      for (const [at, name] of ['P0', 'P99', 'P100', 'P129'].entries()) {
        if (at > 0) await store.update(table, pointing, { [name]: pointer(target, id) });
        await blocked(target, id, table, name);
        await store.update(table, pointing, { [name]: null });
      }
      assert.deepEqual((await store.remove(target, id)).body, {});
    });

    const unlinks: [string, (table: string, pointing: string) => Promise<unknown>][] = [
      ['the Pointer is set to null', (table, pointing) => store.update(table, pointing, { P: null })],
      ['the Pointer is deleted', (table, pointing) => store.update(table, pointing, { P: { __op: 'Delete' } })],
      ['the pointing record is deleted', (table, pointing) => store.remove(table, pointing)],
    ];
    for (const [what, unlink] of unlinks)
      test(`Records/Delete: allowed once ${what}`, async () => {
        const { target, table, id, link } = await scene();
        const pointing = await store.create(table, { P: link });
        await blocked(target, id, table, 'P');
        await unlink(table, pointing);
        assert.deepEqual((await store.remove(target, id)).body, {});
      });

    test('Records/Delete: allowed once the Pointer names another record, which is then guarded', async () => {
      const { target, table, id, link } = await scene();
      const pointing = await store.create(table, { P: link });
      const next = await store.create(target, {});
      await store.update(table, pointing, { P: pointer(target, next) });
      assert.equal((await store.remove(target, id)).status, 200);
      await blocked(target, next, table, 'P');
    });

    test('Records/Delete: the last of several Pointers counts', async () => {
      const { target, table, id, link } = await scene();
      const pointing = [await store.create(table, { P: link }), await store.create(table, { Q: link })];
      await store.remove(table, pointing[0] ?? '');
      await blocked(target, id, table, 'Q');
      await store.remove(table, pointing[1] ?? '');
      assert.equal((await store.remove(target, id)).status, 200);
    });

    test('Records/Delete: a Pointer column that a write added guards too', async () => {
      const { target, id, link } = await scene();
      const table = unique('Fresh');
      await store.create(table, { Parent: link });
      await blocked(target, id, table, 'Parent');
    });

    test('Records/Delete: a record that points at itself does not block itself', async () => {
      const table = unique('Self');
      const id = await store.create(table, { Name: 'a' });
      await store.update(table, id, { Parent: pointer(table, id) });
      assert.equal((await store.remove(table, id)).status, 200);
    });

    test('Records/Delete: another record of the same table blocks, beside the self pointer too', async () => {
      const table = unique('Self');
      const id = await store.create(table, { Name: 'a' });
      await store.update(table, id, { Parent: pointer(table, id) });
      const child = await store.create(table, { Parent: pointer(table, id) });
      await blocked(table, id, table, 'Parent');
      assert.equal((await store.remove(table, child)).status, 200);
      assert.equal((await store.remove(table, id)).status, 200);
    });

    test('Records/Delete: two records that point at each other block each other until one lets go', async () => {
      const table = unique('Pair');
      const one = await store.create(table, {});
      const two = await store.create(table, { Mate: pointer(table, one) });
      await store.update(table, one, { Mate: pointer(table, two) });
      await blocked(table, one, table, 'Mate');
      await blocked(table, two, table, 'Mate');
      await store.update(table, two, { Mate: null });
      assert.equal((await store.remove(table, one)).status, 200);
      assert.equal((await store.remove(table, two)).status, 200);
    });

    test('Records/Delete: the guard does not look inside Arrays or Objects, nor at Relations', async () => {
      const { target, table, id, link } = await scene();
      await store.create(table, { A: [link], O: { link }, R: { __op: 'AddRelation', objects: [link] } });
      assert.equal((await store.remove(target, id)).status, 200);
    });

    test('Records/Delete: the same objectId in another table is not meant', async () => {
      const { table, id, link } = await scene();
      const other = await store.table();
      await store.create(other, { objectId: id });
      await store.create(table, { P: link });
      assert.equal((await store.remove(other, id)).status, 200);
    });

    test('Records/Delete: an objectId that differs only by case is not meant', async () => {
      const { target, table } = await scene();
      for (const objectId of ['abc', 'ABC']) await store.create(target, { objectId });
      await store.create(table, { P: pointer(target, 'abc') });
      assert.equal((await store.remove(target, 'ABC')).status, 200);
      await blocked(target, 'abc', table, 'P');
    });

    test('Records/Delete: a missing record that something points at is 404, not 119', async () => {
      const { target, table } = await scene();
      await store.create(table, { P: pointer(target, 'missing123') });
      assertRefused(await store.remove(target, 'missing123'), { code: 101 });
    });

    test('Records/Delete: a refused delete changes nothing', async () => {
      const { target, table, id, link } = await scene();
      await store.create(table, { P: link });
      const before = (await store.snapshot(target)) + (await store.snapshot(table));
      await store.remove(target, id);
      assert.equal((await store.snapshot(target)) + (await store.snapshot(table)), before);
    });

    const signUp = async (body: object) => {
      const answer = await store.post('_User', { username: unique('user'), password: 'Secret12', ...body });
      assert.equal(answer.status, 201, answer.text);
      return answer.body.objectId as string;
    };

    test('Errors/119: the pointing table may be a system table (_User.status)', async () => {
      const id = await store.create('UserStatuses', { Name: 'away' });
      const user = await signUp({ status: pointer('UserStatuses', id) });
      await blocked('UserStatuses', id, '_User', 'status');
      await store.update('_User', user, { status: null });
      assert.equal((await store.remove('UserStatuses', id)).status, 200);
    });

    test('Users/Delete user: blocked (119) if another record points at the user', async () => {
      const user = await signUp({});
      const table = unique('Owned');
      const owned = await store.create(table, { OwnerId: pointer('_User', user) });
      await blocked('_User', user, table, 'OwnerId');
      await store.update(table, owned, { OwnerId: null });
      assert.equal((await store.remove('_User', user)).status, 200);
    });
  });
