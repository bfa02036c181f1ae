import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BlockQuery } from '../../../src/console/data/rows/block.ts';
import { count, jump } from '../../../src/console/data/rows/jump.ts';
import { Landmarks } from '../../../src/console/data/rows/landmarks.ts';
import { readOrder } from '../../../src/console/data/rows/order.ts';
import { wholeTableMark } from '../../../src/console/data/rows/whole-table.ts';
import { grantOn } from '../../../src/crm/queries/field-visibility.ts';
import { engines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

const COUNT = 40;
const LIMIT = 6;

for (const engine of engines)
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
      const read = readOrder(order, grantOn(context, className, 'find'));
      return { context, className, where: {}, order: read, keys: [], limit: LIMIT };
    }

    for (const order of ['T', '-T', '-createdAt', 'N,-T', '-N,T'])
      it(`they lead where counting off leads, from whatever is known: ${order}`, async () => {
        const query = await queryOf(order);
        const { rows }: Answer = await sales.call('GET /rows/Accounts', { query: { order, limit: 200 } });
        const ids: string[] = rows.map((row: Answer) => row.objectId);
        // First from the beginning, then from rows before and behind, then from the end too.
        for (const skip of [9, 20, 15, 33, 2, 38, 40, 50]) {
          const landmarks = Landmarks.of(query.context, 'Accounts', {});
          assert.equal(landmarks?.marks(query.order.text).length === 0, skip === 9);
          if (skip === 33) landmarks?.counted(COUNT);
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

    it('a record that is closed to the caller is none of his, and no place', async () => {
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
  });
