import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { sampledEngines } from '../../support/service.ts';
import { type Answer, type Caller, openSystem, type TestSystem } from './system.ts';

const date = (iso: string) => ({ __type: 'Date', iso });

for (const engine of sampledEngines())
  describe(`rows on ${engine}`, () => {
    let system: TestSystem;
    let sales: Caller;
    const ids: string[] = [];
    before(async () => {
      system = await openSystem(engine);
      sales = await system.user('Sales');
      await system.define('Accounts', {
        fields: {
          T: { type: 'String' },
          N: { type: 'Number' },
          B: { type: 'Boolean' },
          D: { type: 'Date' },
          O: { type: 'Object' },
        },
        indexes: { byT: { T: 1 } },
      });
      // Ties, and records without a value, of each type.
      for (let at = 0; at < 60; at++) {
        const fields: JsonObject = {
          // Some are too long for a cursor.
          ...(at % 5 > 0 && { T: at % 9 === 0 ? `b${'x'.repeat(900)}` : (['a', 'b', 'א', 'ab'][at % 4] as string) }),
          ...(at % 3 > 0 && { N: [-1, 0, 1.5, 1e10][at % 4] as number }),
          ...(at % 4 > 0 && { B: at % 8 > 3 }),
          ...(at % 7 > 0 && { D: date(`2026-0${1 + (at % 3)}-01T00:00:00.00${at % 2}Z`) }),
          O: { at: at % 6 },
        };
        ids.push(await system.create('Accounts', fields));
      }
    });

    after(() => system.close());

    /** Pages with cursors from one end to the other. */
    async function walk(order: string, side: 'after' | 'before', query: JsonObject = {}): Promise<string[]> {
      const found: string[] = [];
      let cursor: string | null = null;
      if (side === 'before') {
        const all: Answer = await sales.call('GET /rows/Accounts', { query: { ...(query as object), order, limit: 200 } });
        found.push(all.rows.at(-1).objectId);
        cursor = all.last;
      }
      for (;;) {
        const parts: Answer = { ...query, order, limit: 7, ...(cursor !== null && { [side]: cursor }) };
        const { rows, first, last }: Answer = await sales.call('GET /rows/Accounts', { query: parts });
        if (rows.length === 0) return side === 'after' ? found : found.reverse();
        const part = rows.map((row: Answer) => row.objectId);
        found.push(...(side === 'after' ? part : part.reverse()));
        cursor = side === 'after' ? last : first;
      }
    }

    for (const order of [
      '',
      'T',
      '-T',
      'N',
      '-N',
      'B',
      '-B',
      'D,-T',
      '-D,N',
      'T,-N,B',
      'objectId',
      '-objectId,T',
      'O.at',
      '-OwnerId',
    ])
      it(`each row comes once, forward and backward, by "${order}"`, async () => {
        const whole: Answer = await sales.call('GET /rows/Accounts', { query: { order, limit: 200, keys: 'T' } });
        const expected = whole.rows.map((row: Answer) => row.objectId);
        assert.equal(new Set(expected).size, 60);
        assert.deepEqual(await walk(order, 'after'), expected);
        assert.deepEqual(await walk(order, 'before'), expected);
      });

    it('the order is that of REST, the newest first where there is none', async () => {
      const { rows }: Answer = await sales.call('GET /rows/Accounts', { query: { limit: 200 } });
      const times = rows.map((row: Answer) => row.createdAt);
      assert.deepEqual(times, times.toSorted().reverse());
    });
  });
