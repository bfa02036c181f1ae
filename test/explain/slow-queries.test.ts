/** The log lines of slow queries: their shape without values, on every path. Reference: operations.md#slow-queries. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { callTool, masterHeaders } from '../support/mcp.ts';
import { type Json, unique } from '../support/records.ts';
import { type Answer, engines, type Service, startService } from '../support/service.ts';

/** Part of every value that is asked for: it may stand in no line. */
const SECRET = 'qzsecretqz';
const RECORDS = 800;
const slow = { $regex: `${SECRET}(a|b)*[^c]d` };

for (const engine of engines)
  describe(`slow queries on ${engine}`, () => {
    let service: Service;
    const table = unique('Slow');

    before(async () => {
      service = await startService({ engine, env: { SLOW_QUERY_MS: '1', QUERY_TIMEOUT_MS: '700' } });
      const fields = { City: { type: 'String' }, Text: { type: 'String' }, Boss: { type: 'Pointer', targetClass: table } };
      assert.equal((await service.call('POST', `/platform/schemas/${table}`, { body: { fields } })).status, 200);
      const requests = Array.from({ length: RECORDS }, (_, n) => ({
        method: 'POST',
        path: `/platform/classes/${table}`,
        body: { City: n % 2 === 0 ? SECRET : 'Haifa', Text: `${'text of some length '.repeat(60)}${n}` },
      }));
      const answer = await service.call('POST', '/platform/batch', { body: { transaction: true, requests } });
      assert.equal(answer.status, 200, answer.text.slice(0, 200));
    });

    const linesOf = (): Json[] =>
      service
        .output()
        .split('\n')
        .filter((line) => line.includes('"slow query"') && line.includes(table))
        .map((line) => JSON.parse(line));

    /** Returns the line of a query, which is sent again if its line fell to the limit of lines a second. */
    async function lineOf(send: () => Promise<unknown>, wanted: (line: Json) => boolean): Promise<Json> {
      for (let attempt = 0; attempt < 4; attempt++) {
        const before = linesOf().length;
        await send();
        for (let n = 0; n < 25; n++) {
          const line = linesOf().slice(before).find(wanted);
          if (line) return line;
          await wait(50);
        }
      }
      return assert.fail(`no such line among ${JSON.stringify(linesOf())}`);
    }

    const find = (query: Json, path = `/platform/classes/${table}`) => service.call('GET', path, { query });
    const where = { City: SECRET, Text: slow };
    const shape = { City: '$eq', Text: '$regex' };

    test('a find: shape, order, time, rows and plan', async () => {
      const line = await lineOf(
        () => find({ where: { City: SECRET, Text: { $not: slow } }, order: '-City,createdAt', limit: 50 }),
        ({ operation, plan }) => operation === 'find' && plan,
      );
      assert.equal(line.level, 40);
      assert.equal(line.system, service.appId);
      assert.deepEqual(line.where, { City: '$eq', Text: { $not: '$regex' } });
      assert.deepEqual(line.order, ['-City', 'createdAt']);
      assert.equal(line.rows, 50);
      assert.ok(Number.isInteger(line.ms) && line.ms >= 1);
      assert.match(line.plan[0], new RegExp(`^scan of all records of ${table}`));
    });

    const paths: [what: string, send: () => Promise<Answer | unknown>, operation: string, expected: Json][] = [
      ['a count', () => find({ where, limit: 0, count: 1 }), 'count', { where: shape }],
      [
        'a sub-query',
        () => find({ where: { Boss: { $notInQuery: { className: table, where } } }, limit: 3 }),
        'find',
        { where: { Boss: { $notInQuery: { className: table, where: shape } } }, rows: 3 },
      ],
      [
        'an include',
        () => find({ where: { $or: [where, { Text: slow }] }, include: 'Boss' }),
        'find',
        { where: { $or: [shape, { Text: '$regex' }] } },
      ],
      [
        'an aggregation',
        () => find({ pipeline: [{ $match: where }, { $group: { _id: '$City' } }] }, `/platform/classes-aggregate/${table}`),
        'aggregate',
        { where: shape, stages: ['$group'] },
      ],
      [
        'an agent tool',
        () => callTool(service, masterHeaders(service), 'Get-Data', { table, where: { Text: slow }, limit: 5 }),
        'find',
        { where: { Text: '$regex' } },
      ],
      [
        'a long answer in chunks',
        () => find({ where: { Text: { $not: slow } }, limit: 10_000 }),
        'find',
        { where: { Text: { $not: '$regex' } }, rows: RECORDS },
      ],
      [
        'a write of all that match',
        () => service.call('PUT', `/platform/classes/${table}`, { query: { where: { City: SECRET } }, body: { City: SECRET } }),
        'update',
        { where: { City: '$eq' }, rows: RECORDS / 2 },
      ],
    ];
    for (const [what, send, operation, expected] of paths)
      test(`${what} is logged`, async () => {
        const line = await lineOf(send, (found) => {
          return found.operation === operation && JSON.stringify(found.where) === JSON.stringify(expected.where);
        });
        for (const [name, value] of Object.entries(expected)) assert.deepEqual(line[name], value, name);
      });

    test('a query that ends at its time limit is logged', async () => {
      const costly = {
        $or: Array.from({ length: 60 }, (_, n) => ({ Text: { $regex: `${SECRET}${n}.*(x|yz)*[^q]$|h ${n}(?:l.*e)q` } })),
      };
      const line = await lineOf(
        async () => {
          const answer = await find({ where: costly });
          assert.deepEqual([answer.status, answer.body.code], [503, 124], answer.text);
        },
        ({ isTimedOut }) => isTimedOut === true,
      );
      assert.equal(line.where.$or.at(-1), '…');
      assert.ok(JSON.stringify(line).length < 4_000);
    });

    test('many slow queries at once cause few lines, and the number of the others is told', async () => {
      await wait(1_100);
      const before = linesOf().length;
      await Promise.all(Array.from({ length: 60 }, () => find({ where: { Text: slow } })));
      assert.ok(linesOf().length - before <= 20, `${linesOf().length - before} lines`);
      await wait(1_200);
      assert.match(service.output(), /"count":\d+,"msg":"slow queries were not logged: there were too many"/);
    });

    test('no line holds a value', () => {
      assert.ok(linesOf().length > 5);
      assert.doesNotMatch(service.output(), new RegExp(SECRET));
    });
  });
