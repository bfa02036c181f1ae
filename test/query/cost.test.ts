/**
 * `$regex` cannot stall the service: the cost of a request's patterns is bounded as a whole, before any is compiled. Reference:
 * queries.md#query-limits.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { callTool, keyHeaders, mcpAddress, message, post } from '../support/mcp.ts';
import { assertError, create, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import type { Json } from '../support/records.ts';
import type { Answer, Service } from '../support/service.ts';
import { signUp } from '../support/users.ts';

const tooLarge = /patterns are too large together/;
/** Well above the time that any of these takes, and well below the time without the bound. */
const boundMs = 5_000;

/** Returns a pattern that costs nearly half of a request's limit; each `n` gives a different one. */
const costly = (n: number) => ({ $regex: `z${n}(?:ab?c?d?e?f?g?h?i?){1000}` });
const costlyWheres = (count: number): Row[] => Array.from({ length: count }, (_, n) => ({ s: costly(n) }));

/** Returns the answer, and the longest time that other requests waited meanwhile. */
async function meanwhile(service: Service, ask: () => Promise<Answer>): Promise<{ answer: Answer; waitedMs: number }> {
  let waitedMs = 0;
  let isDone = false;
  const others = (async () => {
    while (!isDone) {
      const startedAt = performance.now();
      await service.call('GET', '/health/live');
      waitedMs = Math.max(waitedMs, performance.now() - startedAt);
    }
  })();
  const answer = await ask();
  isDone = true;
  await others;
  return { answer, waitedMs };
}

onEachEngine((get) => {
  const table = tableName('Cost');
  const other = tableName('CostOther');
  let session = '';
  before(async () => {
    const classLevelPermissions = { find: { '*': true }, get: { '*': true }, count: { '*': true } };
    await defineTable(get(), table, { s: 'String', to: `Pointer:${table}`, list: 'Array' }, { classLevelPermissions });
    await defineTable(get(), other, { s: 'String', to: `Pointer:${table}` }, { classLevelPermissions });
    const id = await create(get(), table, { s: 'dana levi', list: ['dana'] });
    await create(get(), other, { s: 'dana', to: pointer(table, id) });
    ({ token: session } = await signUp(get()));
  });
  const query = (where: unknown, more: Row = {}, options: object = { session }) =>
    get().call('POST', `/platform/classes/${table}`, { body: { _method: 'GET', where, ...more }, ...options });
  const aggregate = (body: Row) =>
    get().call('POST', `/platform/classes-aggregate/${table}`, { body: { _method: 'GET', ...body }, session });

  describe('patterns, wherever they stand', () => {
    const five = costlyWheres(5).map(({ s }) => s);
    const cases: [sentence: string, ask: () => Promise<Answer>][] = [
      ['in one $or', () => query({ $or: costlyWheres(60) })],
      ['on fields that are not there', () => query({ $or: five.map((one) => ({ none: one })) })],
      ['in $not and $nor', () => query({ $nor: [{ s: { $not: five[0] } }, { $and: costlyWheres(5) }] })],
      ['in $all', () => query({ list: { $all: five } })],
      [
        'in sub-queries',
        () => query({ $or: costlyWheres(5).map((where) => ({ to: { $inQuery: { className: table, where } } })) }),
      ],
      [
        'in sub-queries of other tables',
        () =>
          query({
            $and: costlyWheres(5).map((where) => ({ s: { $select: { query: { className: other, where }, key: 's' } } })),
          }),
      ],
      ['in stages of an aggregation', () => aggregate({ pipeline: costlyWheres(5).map((where) => ({ $match: where })) })],
      [
        'in its where and its later stages',
        () =>
          aggregate({
            where: costlyWheres(1)[0],
            pipeline: [
              { $limit: 1 },
              ...costlyWheres(5)
                .slice(2)
                .map((where) => ({ $match: where })),
            ],
          }),
      ],
      ['in a query of one count', () => query({ $or: costlyWheres(5) }, { count: 1, limit: 0 })],
    ];
    for (const [sentence, ask] of cases)
      test(sentence, async () => {
        const { answer, waitedMs } = await meanwhile(get(), ask);
        assertError(answer, 400, 102, tooLarge);
        assert.ok(waitedMs < boundMs, `others waited ${waitedMs} ms`);
      });

    test('in the calls of one request of agents', async () => {
      const call = (where: Row) => callTool(get(), keyHeaders(get()), 'Count-Data', { table, where });
      const refused = await call({ $or: costlyWheres(5) });
      assert.match(refused.text, tooLarge);
      assert.match((await call({ s: { $regex: '^Dana', $options: 'i' } })).text, /1/);
      // Each fits alone; the third one of a batch exceeds the limit, a repeated one costs nothing, the next request starts at zero.
      const resultsOf = async (patterns: readonly number[]) => {
        const calls = patterns.map((n, at) =>
          message('tools/call', { name: 'Count-Data', arguments: { table, where: { s: costly(n) } } }, at),
        );
        const answers: Json[] = (await post(mcpAddress(get()), calls, keyHeaders(get()))).body;
        const texts = patterns.map((_, at) => answers.find(({ id }) => id === at)?.result.content[0].text);
        return texts.map((text) => (tooLarge.test(text) ? 'refused' : JSON.parse(text).count));
      };
      const all = await resultsOf([1, 2, 3, 4]);
      assert.deepEqual(all.toSorted(), [0, 0, 'refused', 'refused']);
      assert.deepEqual(await resultsOf([5, 6]), [0, 0]);
      assert.deepEqual(await resultsOf([7, 7, 7, 8]), [0, 0, 0, 0]);
    });

    test('in criteria, and in those of a batch of them', async () => {
      const trigger = (where: Row): Row => ({ Name: 'T', table, events: ['create'], criteria: where, actions: [] });
      const put = (body: Row) => get().call('POST', '/platform/classes/_Trigger', { body });
      assertError(await put(trigger({ s: costly(1) })), 400, 102, tooLarge);
      const cheap = (n: number): Row => ({ s: { $regex: `^(?:a|b${n}){300}$` } });
      const requests = Array.from({ length: 30 }, (_, n) => ({
        method: 'POST',
        path: '/platform/classes/_Trigger',
        body: trigger(cheap(n)),
      }));
      const answer = await get().call('POST', '/platform/batch', { body: { requests } });
      assert.equal(answer.body.at(-1).error.code, 102, answer.text.slice(-300));
      assert.match(answer.body.at(-1).error.error, tooLarge);
    });
  });

  describe('one pattern', () => {
    for (const [sentence, $regex, $options] of [
      ['of large classes', '[^\\pL\\pN]'.repeat(900), ''],
      ['of ranges whose other cases are many', '[!-𐀀]'.repeat(1_600), 'i'],
      ['of ends of words that backtrack', `(?=a)${'(\\b'.repeat(48)}${'x)*'.repeat(48)}`, 'im'],
      ['of many dots that backtrack', `(?=a)${'.'.repeat(9_000)}`, 'i'],
    ] as const)
      test(sentence, async () => {
        const { answer, waitedMs } = await meanwhile(get(), () => query({ s: { $regex, $options } }));
        assertError(answer, 400, 102, /Invalid regular expression/);
        assert.ok(waitedMs < boundMs, `others waited ${waitedMs} ms`);
      });
  });

  describe('what is usual', () => {
    test('dozens of patterns, a long alternation, the same pattern many times', async () => {
      const words = Array.from({ length: 60 }, (_, n) => ({ s: { $regex: `^(?:word|name) ?${n}\\b.*[a-z]+$`, $options: 'i' } }));
      const names = Array.from({ length: 500 }, (_, n) => `Dana Levi ${n}`).join('|');
      const same = Array.from({ length: 100 }, () => ({ s: { $regex: `^(?:${names})`, $options: 'i' } }));
      const hit = { s: { $regex: '^(?=.*\\bdana\\b)(?=.*\\blevi\\b)' } };
      const answer = await query({ $or: [...words, ...same, hit] });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.results.length, 1);
    });
    test('thousands of values in a list', async () => {
      const $in = Array.from({ length: 20_000 }, (_, n) => `none${n}`);
      assert.equal((await query({ s: { $in: [...$in, 'dana levi'] } })).body.results.length, 1);
    });
    test('patterns of one request do not count against the next', async () => {
      for (let n = 0; n < 8; n++) assert.equal((await query({ $or: costlyWheres(2) })).status, 200);
    });
  });

  describe('conditions, values and places', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ s: `x${n}` }));
    test('conditions of a where and of the stages after it are counted together', async () => {
      assertError(
        await aggregate({ where: { $or: many(900) }, pipeline: [{ $match: { $or: many(900) } }] }),
        400,
        102,
        /constraints/,
      );
      assert.equal((await aggregate({ where: { $or: many(300) }, pipeline: [{ $match: { $or: many(300) } }] })).status, 200);
    });
    test('conditions of sub-queries are counted together', async () => {
      const inQuery = { to: { $inQuery: { className: table, where: { $or: many(900) } } } };
      assertError(await query({ $or: [inQuery, inQuery] }), 400, 102, /constraints/);
    });
    test('a query of too many values', async () => {
      const values = Array.from({ length: 50_001 }, (_, n) => n);
      for (const where of [{ s: { $in: values } }, JSON.stringify({ s: { $nin: values } }), { list: { $containedBy: values } }])
        assertError(await query(where), 400, 102, /values/);
      const pipeline = [{ $project: { x: { $literal: values } } }];
      assertError(await aggregate({ pipeline }), 400, 102, /values/);
      assertError(await aggregate({ pipeline: JSON.stringify(pipeline) }), 400, 102, /values/);
    });
    test('an include of too many places', async () => {
      const paths = (levels: number): string[] =>
        levels === 0
          ? ['']
          : paths(levels - 1).flatMap((path) => ['to', 'createdBy'].map((name) => (path ? `${path}.${name}` : name)));
      assertError(await query({}, { include: paths(9).join(',') }), 400, 102, /places/);
      assert.equal((await query({}, { include: paths(3).join(',') })).status, 200);
      assertError(await query({}, { keys: paths(9).join(',') }), 400, 102, /places/);
    });
    test('a list of names that is nothing but commas', async () => {
      for (const name of ['keys', 'include', 'order', 'excludeKeys'])
        assertError(await query({}, { [name]: ','.repeat(3_000_000) }), 400, 102);
    });
  });

  describe('a table that is not there, asked for by nobody in particular', () => {
    const nowhere = tableName('NoSuchTable');
    const ask = (query: Row) => get().call('GET', `/platform/classes/${nowhere}`, { as: 'anonymous', query });
    test('has no records, whatever the conditions', async () => {
      for (const where of [
        {},
        { a: 1 },
        { $or: costlyWheres(20) },
        { a: { $regex: '(' } },
        { a: { $inQuery: { className: table } } },
      ]) {
        const { answer, waitedMs } = await meanwhile(get(), () => ask({ where }));
        assert.equal(answer.text, '{"results":[]}');
        assert.equal(answer.status, 200);
        assert.ok(waitedMs < boundMs);
      }
      assert.equal((await ask({ count: 1, limit: 0 })).text, '{"results":[],"count":0}');
    });
    test('has parameters as others have', async () => {
      assertError(await ask({ distinct: 'a' }), 400, 102, 'Invalid parameter for query: distinct');
      assertError(await ask({ limit: 'abc' }), 400, 102);
      assertError(await ask({ count: 'perhaps' }), 400, 102);
      assertError(await ask({ where: '{"a":' }), 500, 1);
      assertError(await ask({ where: '[1]' }), 500, 1);
    });
    test('is as empty for who has a key, whose conditions are checked', async () => {
      const asKey = (where: Row) => get().call('GET', `/platform/classes/${nowhere}`, { query: { where } });
      assert.deepEqual(await find(get(), nowhere, { where: { a: 1 } }), []);
      assertError(await asKey({ a: { $foo: 1 } }), 400, 102);
      const many = await get().call('POST', `/platform/classes/${nowhere}`, {
        body: { _method: 'GET', where: { $or: costlyWheres(9) } },
      });
      assertError(many, 400, 102, tooLarge);
    });
  });
});
