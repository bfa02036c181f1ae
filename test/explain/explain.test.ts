/** `explain/classes/{Table}`: the plan in words, and advice that helps. Reference: explain.md. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertClean, type Json, pointer, unique } from '../support/records.ts';
import { type Answer, engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';

const RECORDS = 4_000;
const SMALL = 300;

for (const engine of engines)
  describe(`explain on ${engine}`, () => {
    let service: Service;
    const table = unique('Explained');
    const small = unique('Small');

    const explain = (of: string, query: Json, as?: Json): Promise<Answer> =>
      service.call('GET', `/platform/explain/classes/${of}`, { query, ...as });

    async function explained(of: string, query: Json): Promise<Json> {
      const answer = await explain(of, query);
      assert.equal(answer.status, 200, answer.text);
      assertClean(answer);
      return answer.body;
    }

    async function fill(className: string, count: number): Promise<void> {
      const fields = {
        City: { type: 'String' },
        Size: { type: 'String' },
        Age: { type: 'Number' },
        Name: { type: 'String' },
        Tags: { type: 'Array' },
        Text: { type: 'String' },
        Boss: { type: 'Pointer', targetClass: className },
        Friends: { type: 'Relation', targetClass: className },
      };
      assert.equal((await service.call('POST', `/platform/schemas/${className}`, { body: { fields } })).status, 200);
      for (let from = 0; from < count; from += 1_000) {
        const requests = Array.from({ length: Math.min(1_000, count - from) }, (_, at) => ({
          method: 'POST',
          path: `/platform/classes/${className}`,
          body: recordOf(from + at),
        }));
        const answer = await service.call('POST', '/platform/batch', { body: { transaction: true, requests } });
        assert.equal(answer.status, 200, answer.text.slice(0, 200));
      }
    }

    before(async () => {
      service = await sharedService(engine);
      await fill(table, RECORDS);
      await fill(small, SMALL);
    });

    const advised: [what: string, query: Json, keys: Json][] = [
      ['an equality', { where: { City: 'city 7' } }, { City: 1 }],
      ['two equalities', { where: { City: 'city 8', Size: 'small' } }, { City: 1, Size: 1 }],
      ['an order', { order: 'Name' }, { Name: 1 }],
      ['a descending order', { order: '-Age,Name', limit: 10 }, { Age: -1, Name: 1 }],
      ['an equality, then the order', { where: { Size: 'huge' }, order: '-Name' }, { Size: 1, Name: -1 }],
      ['an equality, then a range', { where: { Text: 'text 3', Age: { $gt: 100 } } }, { Text: 1, Age: 1 }],
      ['a beginning', { where: { Text: { $regex: '^text 12' } } }, { Text: 1 }],
    ];
    for (const [what, query, keys] of advised)
      test(`${what}: the advice can be sent as it stands, and is used`, async () => {
        const first = await explained(table, query);
        assert.deepEqual(Object.values(first.advice?.indexes ?? {}), [keys], JSON.stringify(first));
        const [name] = Object.keys(first.advice.indexes);
        const made = await service.call('PUT', `/platform/schemas/${table}`, { body: first.advice });
        assert.equal(made.status, 200, made.text);
        const second = await explained(table, query);
        assert.equal(second.index, name, JSON.stringify(second));
        assert.equal(second.advice, undefined);
        assert.match(second.plan.join('\n'), new RegExp(`index ${name}\\b`));
        const removed = { indexes: { [name as string]: { __op: 'Delete' } } };
        assert.equal((await service.call('PUT', `/platform/schemas/${table}`, { body: removed })).status, 200);
      });

    test('each branch of an $or gets its index', async () => {
      const query = { where: { $or: [{ City: 'city 7' }, { Text: 'text 12' }] } };
      const first = await explained(table, query);
      assert.deepEqual(Object.values(first.advice.indexes), [{ City: 1 }, { Text: 1 }], JSON.stringify(first));
      assert.equal((await service.call('PUT', `/platform/schemas/${table}`, { body: first.advice })).status, 200);
      const { plan, advice } = await explained(table, query);
      assert.equal(advice, undefined);
      for (const name of Object.keys(first.advice.indexes)) assert.match(plan.join('\n'), new RegExp(`index ${name}\\b`));
      const indexes = Object.fromEntries(Object.keys(first.advice.indexes).map((name) => [name, { __op: 'Delete' }]));
      assert.equal((await service.call('PUT', `/platform/schemas/${table}`, { body: { indexes } })).status, 200);
    });

    const branches: [what: string, branches: Json[], keys: Json[]][] = [
      ['of the same field', ['city 7', 'city 8', 'city 9'].map((City) => ({ City })), [{ City: 1 }]],
      [
        'whose fields are the first ones of another',
        [{ Text: 'text 12' }, { Text: 'text 13', Age: 513 }, { Age: 514, Text: 'text 14' }],
        [{ Text: 1, Age: 1 }],
      ],
    ];
    for (const [what, $or, keys] of branches)
      test(`branches ${what} share their index`, async () => {
        const { advice } = await explained(table, { where: { $or } });
        assert.deepEqual(Object.values(advice?.indexes ?? {}), keys, JSON.stringify(advice));
      });

    const notAdvised: [what: string, query: Json][] = [
      ['nothing asked', {}],
      ['a look-up by id', { where: { objectId: 'abcdefghij' } }],
      ['a Pointer, which has an index', { where: { Boss: pointer(table, 'abcdefghij') } }],
      ['createdAt, which has an index', { order: '-createdAt' }],
      ['a pattern that begins anywhere', { where: { Text: { $regex: 'ext' } } }],
      ['$ne', { where: { City: { $ne: 'city 7' } } }],
      ['$exists', { where: { City: { $exists: true } } }],
      ['an Array', { where: { Tags: 'red' } }],
      ['a Relation', { where: { Friends: pointer(table, 'abcdefghij') } }],
      ['a value that half of the records have', { where: { Size: 'small' } }],
      ['an $or with a branch that no index helps', { where: { $or: [{ City: 'city 7' }, { Text: { $regex: 'x' } }] } }],
      ['a field that does not exist', { where: { Nothing: 1 } }],
      ['branches that have a fifth of the records together', { where: { $or: cities(20) } }],
      ['an $or that needs more indexes than are advised', { where: { $or: manyIndexes() } }],
    ];
    for (const [what, query] of notAdvised)
      test(`no advice for ${what}`, async () => {
        const { plan, advice } = await explained(table, query);
        assert.equal(advice, undefined, JSON.stringify(advice));
        assert.ok(Array.isArray(plan));
      });

    test('no advice for a small table', async () => {
      const { plan, rowsRead, advice } = await explained(small, { where: { City: 'city 7' } });
      assert.equal(advice, undefined);
      assert.equal(rowsRead, SMALL);
      assert.deepEqual(plan[0], `scan of all ${SMALL} records of ${small}`);
    });

    test('rowsRead is the number of records that the plan goes through', async () => {
      const { rowsRead, plan } = await explained(table, { where: { Name: 'nobody' } });
      assert.equal(rowsRead, RECORDS);
      assert.match(plan[0], new RegExp(`^scan of all 4,000 records of ${table}`));
      const one = await explained(table, { where: { objectId: 'abcdefghij' } });
      assert.equal(one.rowsRead, 0);
      assert.equal(one.index, '~objectId');
      assert.equal(one.plan[0], `search of ${table} by the index of objectId (objectId)`);
      const count = await explained(table, { limit: 0, count: 1 });
      assert.equal(count.rowsRead, RECORDS);
      assert.match(count.plan[0], new RegExp(`^scan of all 4,000 records of ${table}`));
    });

    test('sub-queries are named by their tables', async () => {
      const where = { Boss: { $inQuery: { className: table, where: { City: 'city 7' } } } };
      const { plan } = await explained(table, { where, order: 'Name', limit: 5, count: 1 });
      assert.ok(plan.some((step: string) => step.includes(table)));
    });

    const refused: [what: string, query: Json, code: number][] = [
      ['an unknown operator', { where: { City: { $like: 'x' } } }, 102],
      ['an unknown parameter', { explain: true }, 102],
      ['a limit that is no number', { limit: 'many' }, 102],
      ['a bad pattern', { where: { City: { $regex: '(' } } }, 102],
    ];
    for (const [what, query, code] of refused)
      test(`${what} gets the error that a find gets`, async () => {
        const answer = await explain(table, query);
        const found = await service.call('GET', `/platform/classes/${table}`, { query });
        assert.deepEqual([answer.status, answer.text], [found.status, found.text]);
        assert.equal(answer.body.code, code);
      });

    test('only the master key may ask; an unknown table is 103', async () => {
      for (const as of ['apiKey', 'anonymous'] as const) {
        const answer = await explain(table, {}, { as });
        const snapshot = await service.call('GET', '/platform/schema/snapshot', { as });
        assert.deepEqual([answer.status, answer.body], [403, snapshot.body]);
      }
      const hidden = await explain('_IdempotencyKey', {});
      const found = await service.call('GET', '/platform/classes/_IdempotencyKey');
      assert.deepEqual([hidden.status, hidden.text], [found.status, found.text]);
      assert.equal(hidden.body.code, 119);
      const unknown = await explain('NoSuchTable', {});
      assert.deepEqual([unknown.status, unknown.body.code], [400, 103]);
    });
  });

function cities(count: number): Json[] {
  return Array.from({ length: count }, (_, at) => ({ City: `city ${at}` }));
}

/** Branches of six combinations of fields, none of which begins with another. */
function manyIndexes(): Json[] {
  const City = 'city 7';
  const [Text, Name, Age] = ['text 12', 'name 12', 12];
  return [
    { City, Text },
    { Text, Name },
    { Name, Age },
    { Age, City },
    { Age, Text },
    { Name, City },
  ];
}

function recordOf(n: number): Json {
  return {
    City: `city ${n % 100}`,
    Size: n % 80 === 3 ? 'huge' : n % 2 === 0 ? 'small' : 'large',
    Age: n,
    Name: `name ${(n * 7919) % RECORDS}`,
    Tags: ['red'],
    Text: `text ${n % 500}`,
  };
}
