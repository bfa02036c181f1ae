/** Updates and deletes of all records that match. Reference: records.md#write-many-records. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertClean, assertRefused, type Json, path, pointer, type Refusal, unique, useStore } from '../support/records.ts';
import { type CallOptions, engines } from '../support/service.ts';

for (const engine of engines)
  describe(engine, () => {
    const store = useStore(engine);
    const { call, all, table, create } = store;

    const many = (method: 'PUT' | 'DELETE', name: string, query: Json, body?: unknown, options: CallOptions = {}) =>
      call(method, path(name), { ...options, query, ...(body !== undefined && { body }) });
    const done = async (...request: Parameters<typeof many>): Promise<Json> => {
      const answer = await many(...request);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    /** Creates records by field values, in one request. */
    const fill = async (name: string, rows: readonly Json[]): Promise<string[]> => {
      const requests = rows.map((body) => ({ method: 'POST', path: path(name), body }));
      const { body } = await call('POST', '/platform/batch', { body: { requests } });
      return body.map(({ success, error }: Json) => success?.objectId ?? assert.fail(error.error));
    };
    const numbers = async (name: string) => (await all(name)).map(({ n }: Json) => n ?? null);
    const people = () => table({ n: 'Number', city: 'String', tags: 'Array', o: 'Object' });
    const five = async () => {
      const name = await people();
      await fill(
        name,
        [1, 2, 3, 4, 5].map((n) => ({ n, city: n % 2 ? 'Haifa' : 'Yafo' })),
      );
      return name;
    };

    describe('what is written', () => {
      test('PUT changes all that match and no others, as a single update does', async () => {
        const name = await five();
        const before = await all(name);
        const answer = await done('PUT', name, { where: { city: 'Haifa' } }, { city: 'Eilat', fresh: true });
        assert.deepEqual(answer, { matched: 3, updated: 3, refused: [] });
        const after = await all(name);
        assert.deepEqual(
          after.map(({ city, fresh }: Json) => [city, fresh]),
          [1, 2, 3, 4, 5].map((n) => (n % 2 ? ['Eilat', true] : ['Yafo', undefined])),
        );
        after.forEach((row: Json, at: number) => {
          assert.equal(row.updatedAt > before[at].updatedAt, at % 2 === 0, row.objectId);
          assert.equal(row.createdAt, before[at].createdAt);
        });
      });

      test('DELETE deletes all that match and no others', async () => {
        const name = await five();
        assert.deepEqual(await done('DELETE', name, { where: { n: { $lte: 3 } } }), { matched: 3, deleted: 3, refused: [] });
        assert.deepEqual(await numbers(name), [4, 5]);
        assert.deepEqual(await done('DELETE', name, { where: { n: { $lte: 3 } } }), { matched: 0, deleted: 0, refused: [] });
      });

      test('each record once, also if it still matches afterwards, or others come to match', async () => {
        const name = await people();
        await fill(name, Array(1_200).fill({ n: 0 }));
        const where = { n: { $lt: 5 } };
        const counts = await done('PUT', name, { where, expect: 1_200 }, { n: { __op: 'Increment', amount: 1 } });
        assert.deepEqual(counts, { matched: 1_200, updated: 1_200, refused: [] });
        assert.deepEqual(new Set(await numbers(name)), new Set([1]));
        // Each update makes the next record match.
        const ids = (await all(name)).map(({ objectId }: Json) => objectId);
        const chain = await table({ before: { type: 'Pointer', targetClass: name }, n: 'Number' });
        await fill(chain, [{ n: 0, objectId: 'c0' }, { n: 0 }]);
        await fill(name, [{ objectId: 'x0', n: 7, next: pointer(name, ids[0]) }]);
        await fill(name, [{ objectId: 'x1', n: 8, next: pointer(name, 'x0') }]);
        await fill(name, [{ objectId: 'x2', n: 8, next: pointer(name, 'x1') }]);
        const follow = await done('PUT', name, { where: { 'next.n': 7 } }, { n: 7 });
        assert.deepEqual(follow, { matched: 1, updated: 1, refused: [] });
      });

      const bodies: [string, Json, Json][] = [
        ['values', { n: 9 }, { n: 9, city: 'Haifa' }],
        ['null and Delete', { n: null, city: { __op: 'Delete' } }, {}],
        ['Increment', { n: { __op: 'Increment', amount: -1 } }, { n: 0, city: 'Haifa' }],
        ['AddUnique', { tags: { __op: 'AddUnique', objects: ['a', 'a'] } }, { n: 1, city: 'Haifa', tags: ['a'] }],
        ['places inside Objects', { 'o.floor': 3 }, { n: 1, city: 'Haifa', o: { floor: 3 } }],
        ['a new field', { extra: 'x' }, { n: 1, city: 'Haifa', extra: 'x' }],
        ['system fields, which are ignored', { objectId: 'x', createdAt: 'y' }, { n: 1, city: 'Haifa' }],
        ['nothing', {}, { n: 1, city: 'Haifa' }],
        ['no body', undefined, { n: 1, city: 'Haifa' }],
      ];
      for (const [what, body, expected] of bodies)
        test(`a body with ${what}`, async () => {
          const name = await people();
          await fill(name, [{ n: 1, city: 'Haifa' }, { n: 2 }]);
          assert.deepEqual(await done('PUT', name, { where: { n: 1 } }, body), { matched: 1, updated: 1, refused: [] });
          const [{ objectId, createdAt, updatedAt, ACL, createdBy, updatedBy, ...values }] = await all(name);
          assert.deepEqual(values, expected);
          assert.ok(updatedAt > createdAt && objectId && ACL && createdBy && updatedBy);
        });

      test('a Relation', async () => {
        const target = await table({ n: 'Number' });
        const name = await table({ n: 'Number', r: { type: 'Relation', targetClass: target } });
        const [member] = await fill(target, [{ n: 1 }]);
        const ids = await fill(name, [{ n: 1 }, { n: 1 }, { n: 2 }]);
        const objects = [pointer(target, member as string)];
        await done('PUT', name, { where: { n: 1 } }, { r: { __op: 'AddRelation', objects } });
        const members = await Promise.all(ids.map((id) => store.members(name, id, 'r', target)));
        assert.deepEqual(members, [[member], [member], []]);
        await done('DELETE', name, { where: { n: 1 } });
        assert.equal((await all(name)).length, 1);
      });

      const wheres: [string, Json, number[]][] = [
        ['$or', { $or: [{ n: 1 }, { n: 5 }] }, [1, 5]],
        ['$in and $regex', { city: { $regex: '^H' }, n: { $in: [1, 2, 3] } }, [1, 3]],
        ['all, with expect', {}, [1, 2, 3, 4, 5]],
        ['nothing', { n: 'x' }, []],
      ];
      for (const [what, where, expected] of wheres)
        test(`where: ${what}`, async () => {
          const name = await five();
          const answer = await done('DELETE', name, { where, expect: expected.length });
          assert.deepEqual(answer, { matched: expected.length, deleted: expected.length, refused: [] });
          assert.deepEqual(
            await numbers(name),
            [1, 2, 3, 4, 5].filter((n) => !expected.includes(n)),
          );
        });

      test('where through Pointers and sub-queries', async () => {
        const owners = await table({ city: 'String' });
        const [haifa, yafo] = await fill(owners, [{ city: 'Haifa' }, { city: 'Yafo' }]);
        const name = await table({ n: 'Number', owner: { type: 'Pointer', targetClass: owners } });
        await fill(name, [
          { n: 1, owner: pointer(owners, haifa as string) },
          { n: 2, owner: pointer(owners, yafo as string) },
          { n: 3 },
        ]);
        assert.equal((await done('PUT', name, { where: { 'owner.city': 'Haifa' } }, { n: 10 })).updated, 1);
        const where = { owner: { $notInQuery: { className: owners, where: { city: 'Yafo' } } } };
        assert.equal((await done('DELETE', name, { where })).deleted, 2);
        assert.deepEqual(await numbers(name), [2]);
      });

      test('objectIds of any form, and of more records than are kept in memory', async () => {
        const name = await people();
        const odd = ['"', '\\', 'a,b', '{"objectId":"x"}', ']', 'שלום', '😀', '\n', ' ', 'x'.repeat(500)];
        await fill(name, [...odd.map((objectId) => ({ objectId, n: 1 })), ...Array(12_000).fill({ n: 1 })]);
        const all = odd.length + 12_000;
        assert.deepEqual(await done('PUT', name, { where: { n: 1 }, expect: all }, { n: 2 }), {
          matched: all,
          updated: all,
          refused: [],
        });
        assert.deepEqual(await done('DELETE', name, { where: { n: 2 }, expect: all }), {
          matched: all,
          deleted: all,
          refused: [],
        });
      });
    });

    describe('expect and dryRun', () => {
      test('another number is 409 and nothing is done', async () => {
        const name = await five();
        const before = await store.snapshot(name);
        for (const [method, expect] of [
          ['PUT', 2],
          ['DELETE', 4],
          ['DELETE', 0],
        ] as const) {
          const answer = await many(method, name, { where: { city: 'Haifa' }, expect }, { n: 9 });
          assert.deepEqual(
            [answer.status, answer.body],
            [409, { code: 409, error: `3 records match, not ${expect}.`, matched: 3 }],
          );
        }
        assert.equal(await store.snapshot(name), before);
        assert.equal((await done('DELETE', name, { where: { city: 'Haifa' }, expect: '3' })).deleted, 3);
      });

      test('dryRun counts, and needs no expect', async () => {
        const name = await five();
        const before = await store.snapshot(name);
        for (const dryRun of ['true', 1])
          for (const method of ['PUT', 'DELETE'] as const) {
            assert.deepEqual(await done(method, name, { where: { city: 'Haifa' }, dryRun }, { n: 1 }), { matched: 3 });
            assert.deepEqual(await done(method, name, { where: {}, dryRun }, {}), { matched: 5 });
          }
        const other = await many('PUT', name, { where: {}, dryRun: 1, expect: 4 }, {});
        assert.deepEqual([other.status, other.body.matched], [409, 5]);
        assertRefused(await many('PUT', name, { where: {}, dryRun: 1 }, { n: 'x' }), { code: 111 });
        assert.equal(await store.snapshot(name), before);
        assert.equal((await done('PUT', name, { where: { n: 1 }, dryRun: 0 }, { n: 2 })).updated, 1);
      });

      test('a table that does not exist has no records, and is not made', async () => {
        const name = unique('None');
        assert.deepEqual(await done('PUT', name, { where: {}, expect: 0 }, { n: 1 }), { matched: 0, updated: 0, refused: [] });
        assert.deepEqual(await done('DELETE', name, { where: { n: 1 } }), { matched: 0, deleted: 0, refused: [] });
        assert.deepEqual(await done('DELETE', name, { where: {}, dryRun: 1 }), { matched: 0 });
        assert.equal((await many('DELETE', name, { where: {}, expect: 1 })).status, 409);
        assertRefused(await many('DELETE', name, { where: { n: { $foo: 1 } } }), { code: 102 });
        assert.equal(await store.fields(name), undefined);
      });
    });

    describe('refused as a whole, before anything is written', () => {
      const where = { n: { $gte: 0 } };
      const invalid = (parameter: string, why: string): Refusal => ({
        code: 102,
        error: `Invalid value for parameter ${parameter}: ${why}`,
      });
      const whole = 'should be a whole number, 0 or more';
      const cases: [string, Json, Json, Refusal][] = [
        ['no where', {}, { n: 1 }, invalid('where', 'is required')],
        ['expect alone', { expect: 5 }, { n: 1 }, invalid('where', 'is required')],
        ['an empty where without expect', { where: {} }, { n: 1 }, invalid('expect', 'is required if where is {}')],
        ...['-1', '1.5', 'x', '', '1e3', ' 5'].map((expect): [string, Json, Json, Refusal] => [
          `expect=${expect}`,
          { where, expect },
          { n: 1 },
          invalid('expect', whole),
        ]),
        ['dryRun=2', { where, dryRun: 2 }, { n: 1 }, invalid('dryRun', 'should be 1 or 0')],
        ...['order', 'limit', 'skip', 'keys', 'include', 'count', 'Expect'].map((name): [string, Json, Json, Refusal] => [
          `the parameter ${name}`,
          { where, [name]: '1' },
          { n: 1 },
          { code: 102, error: `Invalid parameter for query: ${name}` },
        ]),
        ['a where that is no JSON', { where: '{n:1}' }, {}, { status: 500, code: 1, error: /where is not valid JSON/ }],
        ['an empty one', { where: '' }, {}, { status: 500, code: 1, error: /where is not valid JSON/ }],
        ['a where that is no object', { where: '[]' }, {}, { status: 500, code: 1, error: /should be a JSON object/ }],
        ['an unknown operator', { where: { n: { $near: 1 } } }, {}, { code: 102, error: 'bad constraint: $near' }],
        ['an ill-formed name', { where: { 'a-b': 1 } }, {}, { code: 105 }],
        ['a value of another type', { where }, { n: 'x' }, { code: 111, error: /schema mismatch for .*\.n; expected Number/ }],
        ['an ill-formed field', { where }, { 'a b': 1 }, { code: 105 }],
        ['an operator on another type', { where }, { city: { __op: 'Increment', amount: 1 } }, { code: 111 }],
        ['an unknown operator of a field', { where }, { n: { __op: 'Multiply' } }, { code: 108 }],
        ['a body that is no object', { where }, [1], { code: 107 }],
      ];
      for (const [what, query, body, refusal] of cases)
        test(what, async () => {
          const name = await five();
          const before = await store.snapshot(name);
          assertRefused(await many('PUT', name, query, body), refusal);
          if (refusal.code === 102 || refusal.code === 1) assertRefused(await many('DELETE', name, query), refusal);
          assert.equal(await store.snapshot(name), before);
        });

      test('If-Match and If-None-Match are for single records', async () => {
        const name = await five();
        for (const header of ['If-Match', 'If-None-Match'])
          assert.equal(
            (await many('DELETE', name, { where: { n: 1 } }, undefined, { headers: { [header]: '"x"' } })).status,
            412,
          );
        assert.equal((await all(name)).length, 5);
      });

      test('a batch takes no item with a where in its path', async () => {
        const name = await five();
        for (const method of ['PUT', 'DELETE']) {
          const at = `${path(name)}?where=%7B%22n%22%3A1%7D`;
          const requests = [
            { method: 'POST', path: path(name), body: { n: 6 } },
            { method, path: at, body: { n: 2 } },
          ];
          const answer = await call('POST', '/platform/batch', { body: { requests } });
          assertRefused(answer, { code: 107, error: `cannot route ${method} ${at}` });
        }
        assert.equal((await all(name)).length, 5);
      });
    });

    describe('refused one by one', () => {
      test('records that others point at, which stay', async () => {
        const target = await people();
        const ids = await fill(target, [{ n: 1 }, { n: 2 }, { n: 3 }]);
        const name = await table({ to: { type: 'Pointer', targetClass: target } });
        await create(name, { to: pointer(target, ids[1] as string) });
        const error = `Pointer to Object ${ids[1]} exists in table ${name} in key to. Delete is not allowed.`;
        assert.deepEqual(await done('DELETE', target, { where: {}, expect: 3 }), {
          matched: 3,
          deleted: 2,
          refused: [{ objectId: ids[1], code: 119, error }],
        });
        assert.deepEqual(await numbers(target), [2]);
      });

      test('a file that does not exist, in each of them', async () => {
        const name = await table({ n: 'Number', file: 'File' });
        const ids = await fill(name, [{ n: 1 }, { n: 2 }]);
        const file = { __type: 'File', name: `${'0'.repeat(32)}_x.png`, url: 'http://127.0.0.1/x.png' };
        const { refused, ...counts } = await done('PUT', name, { where: { n: { $gt: 0 } } }, { file, n: 9 });
        assert.deepEqual(counts, { matched: 2, updated: 0 });
        assert.deepEqual(
          refused,
          ids.map((objectId) => ({ objectId, code: 1 })),
        );
        assert.deepEqual(await numbers(name), [1, 2]);
      });

      test('a sum that is not finite', async () => {
        const name = await people();
        const [id] = await fill(name, [{ n: 1.7e308 }, { n: 1 }]);
        const { refused, updated } = await done(
          'PUT',
          name,
          { where: {}, expect: 2 },
          { n: { __op: 'Increment', amount: 1.7e308 } },
        );
        assert.equal(updated, 1);
        assert.deepEqual([refused[0].objectId, refused[0].code, refused.length], [id, 107, 1]);
        assertClean({ text: JSON.stringify(refused) });
      });

      test('at most 1,000 are listed, the others counted', async () => {
        const target = await people();
        const ids = await fill(target, Array(1_050).fill({ n: 1 }));
        const name = await table({ to: { type: 'Pointer', targetClass: target } });
        await fill(
          name,
          ids.slice(0, 1_040).map((id) => ({ to: pointer(target, id) })),
        );
        const { refused, ...counts } = await done('DELETE', target, { where: { n: 1 } });
        assert.deepEqual(counts, { matched: 1_050, deleted: 10, refusedCount: 1_040 });
        assert.equal(refused.length, 1_000);
      });
    });

    test('POST with `_method` stands for both', async () => {
      const name = await five();
      const query = { where: { n: 1 } };
      const put = await call('POST', path(name), { query, body: { _method: 'PUT', city: 'x' } });
      assert.deepEqual(put.body, { matched: 1, updated: 1, refused: [] });
      const body = { _method: 'DELETE', where: { n: { $gt: 0 } } };
      assertRefused(await call('POST', path(name), { body }), { code: 102, error: /where: is required/ });
      assert.equal((await call('POST', path(name), { query, body: { _method: 'DELETE' } })).body.deleted, 1);
      assert.deepEqual(await numbers(name), [2, 3, 4, 5]);
    });
  });
