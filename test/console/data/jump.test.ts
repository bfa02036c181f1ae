import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { BlockQuery } from '../../../src/console/data/rows/block.ts';
import { count, jump } from '../../../src/console/data/rows/jump.ts';
import { Landmarks } from '../../../src/console/data/rows/landmarks.ts';
import { findMilestones } from '../../../src/console/data/rows/milestones.ts';
import { readOrder } from '../../../src/console/data/rows/order.ts';
import { wholeTableMark } from '../../../src/console/data/rows/whole-table.ts';
import { grantOn } from '../../../src/crm/queries/field-visibility.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

const COUNT = 40;
const LIMIT = 6;

for (const engine of sampledEngines())
  describe(`jumps on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      await system.define('Accounts', {
        fields: { T: { type: 'String' }, N: { type: 'Number' } },
        indexes: { byT: { T: 1 } },
      });
      for (let at = 0; at < COUNT; at++)
        await system.create('Accounts', { ...(at % 4 > 0 && { T: 'abc'[at % 3] as string }), N: at % 5 });
    });
    after(() => system.close());

    async function queryOf(order: string, caller = sales): Promise<BlockQuery> {
      const context = await caller.context();
      const className = 'Accounts';
      const read = readOrder(order, grantOn(context, className, 'find'), {
        schema: context.store.schema(),
        principal: context.principal,
      });
      return { context, className, where: {}, order: read, keys: [], limit: LIMIT };
    }

    for (const order of ['T', '-T', '-createdAt', 'N,-T', '-N,T'])
      it(`they lead where counting off leads, from whatever is known: ${order}`, async () => {
        const query = await queryOf(order);
        const { rows }: Answer = await sales.call('GET /rows/Accounts', { query: { order, limit: 200 } });
        const ids: string[] = rows.map((row: Answer) => row.objectId);
        // First from the beginning, then from rows before and after, then from the end too.
        for (const skip of [9, 20, 15, 33, 2, 38, 40, 50]) {
          const landmarks = Landmarks.of(query.context, 'Accounts', {});
          assert.equal(landmarks?.marks(query.order.text).length === 0, skip === 9);
          if (skip === 33) await landmarks?.count(async () => ({ total: COUNT, isWhole: false }));
          const block = await jump(query, skip, 0);
          assert.deepEqual(
            block.rows.map(({ objectId }) => objectId),
            ids.slice(skip, skip + LIMIT),
            String(skip),
          );
        }
      });

    for (const order of ['T', '-T', '-createdAt', 'createdAt', 'N', 'T,N'])
      it(`an index leads them where the caller may read all records: ${order}`, async () => {
        const query = await queryOf(order, await system.user('Sales'));
        const { rows }: Answer = await sales.call('GET /rows/Accounts', { query: { order, limit: 200 } });
        const ids: string[] = rows.map((row: Answer) => row.objectId);
        assert.equal(await count(query, 0), COUNT);
        assert.ok(Landmarks.of(query.context, 'Accounts', {})?.isWhole);
        const { keys } = query.order;
        for (const position of [0, 7, 19, 20, 31, COUNT - 1]) {
          const mark = keys && (await wholeTableMark(query, keys, position, COUNT));
          assert.equal(mark !== null, order !== 'N' && order !== 'T,N', 'as far as an index has the order');
          assert.ok(mark === null || mark.position <= position);
        }
        for (const skip of [30, 12, 39, 3]) {
          const block = await jump(query, skip, 0);
          assert.deepEqual(
            block.rows.map(({ objectId }) => objectId),
            ids.slice(skip, skip + LIMIT),
            String(skip),
          );
        }
      });

    it('a record that is closed to the caller has no owner and no place', async () => {
      await system.define('Accounts', { indexes: { byN: { N: 1 } } });
      const before = await sales.call('GET /rows/Accounts', { query: { order: 'N', limit: 200 } });
      const hidden = await system.create('Accounts', { N: 2, ACL: { 'role:Admin': { read: true } } });
      const query = await queryOf('N', await system.user('Sales'));
      assert.equal(await count(query, 0), COUNT);
      assert.equal(Landmarks.of(query.context, 'Accounts', {})?.isWhole, false);
      const ids: string[] = before.rows.map((row: Answer) => row.objectId);
      for (const skip of [30, 12, 39, 3]) {
        const { rows } = await jump(query, skip, 0);
        assert.deepEqual(
          rows.map(({ objectId }) => objectId),
          ids.slice(skip, skip + LIMIT),
        );
      }
      await system.remove('Accounts', hidden);
    });

    it('one that comes after the count, too, moves nothing', async () => {
      const { rows: all }: Answer = await sales.call('GET /rows/Accounts', { query: { order: 'T', limit: 200 } });
      const ids: string[] = all.map((row: Answer) => row.objectId);
      const query = await queryOf('T', await system.user('Sales'));
      await count(query, 0);
      assert.ok(Landmarks.of(query.context, 'Accounts', {})?.isWhole);
      const hidden = await system.create('Accounts', { T: 'a', ACL: { 'role:Admin': { read: true } } });
      assert.equal(Landmarks.of(query.context, 'Accounts', {})?.isWhole, false);
      for (const skip of [30, 18, 35]) {
        const { rows } = await jump(query, skip, 0);
        assert.deepEqual(
          rows.map(({ objectId }) => objectId),
          ids.slice(skip, skip + LIMIT),
          String(skip),
        );
      }
      await system.remove('Accounts', hidden);
    });

    describe('where an index alone does not tell', () => {
      const where = { N: { $lt: 4 } };
      const idsOf = async (order: string): Promise<string[]> => {
        const query = { order, limit: 200, where: JSON.stringify(where) };
        const { rows }: Answer = await sales.call('GET /rows/Accounts', { query });
        return rows.map((row: Answer) => row.objectId);
      };
      const filtered = async (order: string, more: Partial<BlockQuery> = {}): Promise<BlockQuery> => ({
        ...(await queryOf(order, await system.user('Sales'))),
        where,
        ...more,
      });

      for (const order of ['T', '-T', '-createdAt', 'createdAt', 'T,-N'])
        it(`milestones lead them: ${order}`, async () => {
          const query = await filtered(order);
          const ids = await idsOf(order);
          for (const skip of [20, 30, 9, 31, 3, 40]) {
            const block = await jump(query, skip, 4);
            assert.deepEqual(
              block.rows.map(({ objectId }) => objectId),
              ids.slice(skip, skip + LIMIT),
              String(skip),
            );
          }
          const found = await findMilestones(query, query.order.keys ?? [], ids.length, 4);
          assert.deepEqual(
            found.map(({ position }) => position),
            Array.from({ length: Math.floor(ids.length / 2) }, (_, at) => 2 * at + 1),
          );
          const marks = Landmarks.of(query.context, 'Accounts', where)?.marks(query.order.text) ?? [];
          for (const { position, place } of found)
            assert.ok(marks.some((mark) => mark.position === position && isDeepStrictEqual(mark.place, place)));
        });

      it('they are of what the caller may read', async () => {
        const hidden = await system.create('Accounts', { T: 'aa', N: 1, ACL: { 'role:Admin': { read: true } } });
        const query = await filtered('T');
        const found = await findMilestones(query, query.order.keys ?? [], 20, 2);
        assert.deepEqual(
          found.map(({ place }) => place.at(-1)),
          await idsOf('T'),
        );
        await system.remove('Accounts', hidden);
      });

      it('one of several jumps looks for them, and the next where that one is ended', async () => {
        const ended = new AbortController();
        const query = await filtered('T');
        const landmarks = Landmarks.of(query.context, 'Accounts', where) ?? assert.fail();
        const { keys, text } = query.order;
        let looked = 0;
        const find = (signal?: AbortSignal) => async () => {
          looked++;
          await new Promise((resolve) => setTimeout(resolve, 5));
          signal?.throwIfAborted();
          return findMilestones(query, keys ?? [], COUNT, 4);
        };
        const first = landmarks.placeMilestones(text, find(ended.signal));
        const others = [1, 2, 3].map(() => landmarks.placeMilestones(text, find()));
        ended.abort();
        await assert.rejects(first);
        await Promise.all(others);
        assert.equal(looked, 2);
        assert.ok(landmarks.marks(text).length > 10);
      });
    });
  });
