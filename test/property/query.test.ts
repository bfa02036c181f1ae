/** Property: a query returns what the oracle returns, for random tables, records and queries. Reference: queries.md#where. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import { type Json, type Query, type Row, runQuery } from '../support/oracle.ts';
import { type Answer, engines, type Service } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { type Scenario, scenario, TARGET } from './arbitraries.ts';
import { settings } from './settings.ts';

const queriesPerTable = 25;

for (const engine of engines)
  describe(`query property (${engine})`, () => {
    let service: Service;
    let tables = 0;
    before(async () => {
      service = await sharedService(engine);
    });

    test('Records/Query: every answer equals the oracle over the same records', { timeout: 240_000 }, async () => {
      const property = fc.asyncProperty(scenario(queriesPerTable), async (drawn) => {
        const table = `Prop${++tables}`;
        const target = `PropTarget${tables}`;
        const named: Scenario = JSON.parse(JSON.stringify(drawn).replaceAll(TARGET, target));
        await createTables(service, table, target, named);
        await load(service, target, named.targets);
        const rows = await load(service, table, named.records);
        for (const query of named.queries) await check(service, table, rows, query, { [target]: named.targets });
      });
      await fc.assert(property, settings(30));
    });
  });

async function createTables(service: Service, table: string, target: string, { fields }: Scenario): Promise<void> {
  const ranked = { fields: { rank: { type: 'Number' } } };
  expect(await service.call('POST', `/platform/schemas/${target}`, { body: { className: target, ...ranked } }), 200);
  const columns = fields.map(({ name, type }) => [name, type === 'Pointer' ? { type, targetClass: target } : { type }]);
  const body = { className: table, fields: Object.fromEntries(columns) };
  expect(await service.call('POST', `/platform/schemas/${table}`, { body }), 200);
}

/** Creates the records in one batch; returns them in the form of the oracle, in the order of creation. */
async function load(service: Service, table: string, records: Row[]): Promise<Row[]> {
  const requests = records.map((body) => ({ method: 'POST', path: `/platform/classes/${table}`, body }));
  const answer = await service.call('POST', '/platform/batch', { body: { requests } });
  expect(answer, 200);
  return records.map((record, index) => {
    const created = answer.body[index]?.success;
    assert.ok(created, `item ${index} of the batch was refused: ${JSON.stringify(answer.body[index])}`);
    assert.equal(created.objectId, record.objectId);
    return { ...record, createdAt: { __type: 'Date', iso: created.createdAt } };
  });
}

async function check(
  service: Service,
  table: string,
  rows: Row[],
  { byPost, ...query }: Query & { byPost: boolean },
  tables: Record<string, Row[]>,
): Promise<void> {
  const answer = await ask(service, table, query, byPost);
  const request = `${byPost ? 'POST' : 'GET'} ${table} ${JSON.stringify(query)}\nover ${JSON.stringify(rows)}`;
  const described = () => `${request}\nanswered ${answer.status} ${answer.text}`;
  assert.equal(answer.status, 200, described());
  const expected = runQuery(rows, query, tables);
  const ids = (list: Row[]) => list.map((row) => row.objectId);
  assert.deepEqual(ids(answer.body.results), ids(expected.results), described());
  assert.equal(answer.body.count, expected.count, described());
  for (const [index, row] of expected.results.entries())
    assert.deepEqual(withoutSystemFields(answer.body.results[index]), withoutSystemFields(row), described());
}

/** Sends a query in the address, or in the body with `_method`. Reference: queries.md#parameters. */
function ask(service: Service, table: string, query: Query, byPost: boolean): Promise<Answer> {
  const { order, keys, excludeKeys, count, ...rest } = query;
  const parameters: Record<string, unknown> = { ...rest };
  if (order) parameters.order = order.join(',');
  if (keys) parameters.keys = keys.join(',');
  if (excludeKeys) parameters.excludeKeys = excludeKeys.join(',');
  if (count) parameters.count = 1;
  const path = `/platform/classes/${table}`;
  if (byPost) return service.call('POST', path, { body: { ...parameters, _method: 'GET' } });
  return service.call('GET', path, { query: parameters });
}

function withoutSystemFields(row: Row): Record<string, Json> {
  const system = ['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL'];
  return Object.fromEntries(Object.entries(row).filter(([name]) => !system.includes(name)));
}

function expect(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.text);
}
