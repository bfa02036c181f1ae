/** Helpers of the query, batch, aggregation and schema suites: table names, seeding, tables of scenarios. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { isClusterSuite } from './cluster-suites.ts';
import { type Answer, type EngineName, engines, type Service } from './service.ts';
import { sharedService } from './shared.ts';

export type Get = () => Service;
export type Row = Record<string, unknown>;

/** Runs the body once per engine in its own `describe`, on the service that the suites of this process share. */
export function onEachEngine(body: (get: Get, engine: EngineName) => void, env: Record<string, string> = {}): void {
  const isCluster = isClusterSuite();
  for (const engine of engines)
    describe(engine, () => {
      let service: Service | undefined;
      before(async () => {
        service = await sharedService(engine, env, isCluster);
      });
      body(() => {
        assert.ok(service, 'the service did not start');
        return service;
      }, engine);
    });
}

/** Returns a table name that no other test uses. */
export const tableName = (base: string): string => `${base}_${randomBytes(4).toString('hex')}`;

export const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
export const date = (iso: string) => ({ __type: 'Date', iso });

/** Creates a table from `{field: type}`; `Pointer:Target` and `Relation:Target` name the target. */
export async function defineTable(service: Service, name: string, fields: Record<string, string>, more: Row = {}): Promise<void> {
  const described = Object.fromEntries(
    Object.entries(fields).map(([field, type]) => {
      const [kind, targetClass] = type.split(':');
      return [field, targetClass === undefined ? { type: kind } : { type: kind, targetClass }];
    }),
  );
  const answer = await service.call('POST', `/platform/schemas/${name}`, {
    body: { className: name, fields: described, ...more },
  });
  assert.equal(answer.status, 200, answer.text);
}

/** Creates one record and returns its objectId. */
export async function create(service: Service, table: string, row: Row): Promise<string> {
  const answer = await service.call('POST', `/platform/classes/${table}`, { body: row });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.objectId;
}

/** Creates records one after another, so that their order of creation is the given order. */
export async function createEach(service: Service, table: string, rows: readonly Row[]): Promise<string[]> {
  const ids: string[] = [];
  for (const row of rows) ids.push(await create(service, table, row));
  return ids;
}

/** Creates many records in batches of 1,000. */
export async function createMany(service: Service, table: string, rows: readonly Row[]): Promise<string[]> {
  const ids: string[] = [];
  for (let start = 0; start < rows.length; start += 1000) {
    const requests = rows
      .slice(start, start + 1000)
      .map((body) => ({ method: 'POST', path: `/platform/classes/${table}`, body }));
    const answer = await service.call('POST', '/platform/batch', { body: { requests } });
    assert.equal(answer.status, 200, answer.text.slice(0, 500));
    for (const item of answer.body) {
      assert.ok(item.success, JSON.stringify(item));
      ids.push(item.success.objectId);
    }
  }
  return ids;
}

/** Queries a table, asserts 200 and returns the records. */
export async function find(service: Service, table: string, query: Row = {}): Promise<Row[]> {
  const answer = await service.call('GET', `/platform/classes/${table}`, { query });
  assert.equal(answer.status, 200, answer.text.slice(0, 500));
  return answer.body.results;
}

/** Returns the `k` of each record, in the order of the answer. */
export async function findNames(service: Service, table: string, query: Row = {}): Promise<string[]> {
  return (await find(service, table, query)).map((row) => String(row.k));
}

/** Asserts an error answer: status, code and, if given, the text (whole, or a pattern). */
export function assertError(answer: Answer, status: number, code: number, text?: string | RegExp): void {
  assert.equal(answer.status, status, answer.text.slice(0, 500));
  assert.equal(answer.body?.code, code, answer.text.slice(0, 500));
  assert.equal(typeof answer.body?.error, 'string', answer.text.slice(0, 500));
  if (typeof text === 'string') assert.equal(answer.body.error, text);
  else if (text) assert.match(answer.body.error, text);
}

/** A scenario: its sentence, the `where`, and the `k` of every record that must be returned. */
export type WhereCase = [sentence: string, where: Row, names: string];

/** Defines one test per scenario; `names` are separated by spaces and compared as a set. */
export function whereCases(get: Get, section: string, table: string, cases: readonly WhereCase[]): void {
  for (const [sentence, where, names] of cases)
    test(`${section}: ${sentence}`, async () => {
      const found = await findNames(get(), table, { where });
      assert.deepEqual(found.sort(), names.split(' ').filter(Boolean).sort(), JSON.stringify(where));
    });
}

/** A scenario that must fail: its sentence, the query, the code and the text. */
export type BadCase = [sentence: string, query: Row, code: number, text?: string | RegExp];

/** Defines one test per query that must be answered 400 with its code. */
export function badCases(get: Get, section: string, table: string, cases: readonly BadCase[]): void {
  for (const [sentence, query, code, text] of cases)
    test(`${section}: ${sentence}`, async () => {
      assertError(await get().call('GET', `/platform/classes/${table}`, { query }), 400, code, text);
    });
}
