import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BlockQuery } from '../../../src/console/data/rows/block.ts';
import { jump } from '../../../src/console/data/rows/jump.ts';
import { Landmarks } from '../../../src/console/data/rows/landmarks.ts';
import { readOrder } from '../../../src/console/data/rows/order.ts';
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
      await system.define('Accounts', { fields: { T: { type: 'String' }, N: { type: 'Number' } } });
      for (let at = 0; at < COUNT; at++)
        await system.create('Accounts', { ...(at % 4 > 0 && { T: 'abc'[at % 3] as string }), N: at % 5 });
    });
    after(() => system.close());

    async function queryOf(order: string): Promise<BlockQuery> {
      const context = await sales.context();
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
  });
