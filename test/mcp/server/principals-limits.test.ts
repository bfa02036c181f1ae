/** Limits of the answers of agent tools, equal for all callers. Reference: agents.md#limits-for-agents. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { callTool, keyHeaders, masterHeaders, useTool } from '../../support/mcp.ts';
import { type Json, storeOf, unique } from '../../support/records.ts';
import { type EngineName, type Service, sampledEngines } from '../../support/service.ts';
import { sharedService } from '../../support/shared.ts';
import { samples } from '../samples/index.ts';
import { makeWorld, type World } from '../world.ts';

/** The maximum of `limit` for each tool. */
const maxRows: readonly (readonly [tool: string, max: number])[] = [
  ...(['Get-Data', 'Aggregate-Data', 'Get-Lookup-Values', 'Get-Tasks', 'Get-Timeline'] as const).map(
    (tool) => [tool, 2_000] as const,
  ),
  ...(['Get-Recent-Changes', 'Get-Request-Log', 'Get-Trigger-Logs', 'Get-Reports', 'Run-Report'] as const).map(
    (tool) => [tool, 2_000] as const,
  ),
  ...(['Search-Records', 'Find-Duplicates', 'Get-Campaign-Stats', 'Get-Sales-Documents'] as const).map(
    (tool) => [tool, 200] as const,
  ),
  ...(['Get-Related-Records', 'Get-Messages'] as const).map((tool) => [tool, 100] as const),
  ['Get-Customer-Card', 50],
];

/** Tools that write many records, by the argument that holds them. */
const writers = [
  ['Create-Many', 'data', { FirstName: 'Many' }],
  ['Update-Many', 'updates', { objectId: 'nobodynobo', data: { FirstName: 'x' } }],
  ['Import-Records', 'rows', { FirstName: 'Many' }],
  ['Validate-Records', 'data', { FirstName: 'Many' }],
  ['Assign-Owner', 'objectIds', 'nobodynobo'],
] as const;

/** Maximum bytes of a list answer, including the fields around the list. */
const BUDGET = 61_000;

for (const engine of sampledEngines()) describe(`limits of agent tools (${engine})`, () => suite(engine));

function suite(engine: EngineName): void {
  let service: Service;
  let world: World;
  /** A table of 2,005 records, numbered in `Number` in the order of creation. */
  let many: string;
  before(async () => {
    service = await sharedService(engine);
    world = await makeWorld(storeOf(() => service));
    many = unique('Many');
    for (let from = 0; from < 2_005; from += 1_000) {
      const data = Array.from({ length: Math.min(1_000, 2_005 - from) }, (_, at) => ({ Number: from + at }));
      const made = await useTool(service, masterHeaders(service), 'Create-Many', { table: many, data, skipTimeline: true });
      assert.equal(made.failed, 0);
    }
  });

  const use = (tool: string, args: Json) => useTool(service, keyHeaders(service), tool, args);
  const call = (tool: string, args: Json) => callTool(service, keyHeaders(service), tool, args);
  const sampleOf = async (tool: string): Promise<Json> => samples.get(tool)?.args(world);

  test('Get-Data answers 5 by default, and 2,000 at the most', async () => {
    const few = await use('Get-Data', { table: many });
    assert.deepEqual([few.results.length, few.nextSkip], [5, 5]);
    const all = await use('Get-Data', { table: many, limit: 2_000, keys: ['Number'], order: 'Number' });
    const numbers = [...all.results];
    // 2,000 records exceed an answer; `nextSkip` says where the rest begins.
    let next: number | undefined = all.nextSkip;
    while (next !== undefined) {
      assert.equal(next, numbers.length);
      const page = await use('Get-Data', { table: many, limit: 2_000, keys: ['Number'], order: 'Number', skip: next });
      numbers.push(...page.results);
      next = page.nextSkip;
    }
    assert.deepEqual(
      numbers.map(({ Number: number }: Json) => number),
      Array.from({ length: 2_005 }, (_, at) => at),
    );
  });

  test('Aggregate-Data answers all groups, and with a limit 2,000 at the most', async () => {
    const groups = { table: many, groupBy: ['Number'], metrics: [{ op: 'count', as: 'n' }] };
    const { results, truncated } = await use('Aggregate-Data', { ...groups, where: { Number: { $lt: 700 } } });
    assert.deepEqual([results.length, truncated], [700, undefined]);
    const all = await use('Aggregate-Data', groups);
    assert.deepEqual([all.results.length, all.truncated], [2_005, undefined]);
    const cut = await use('Aggregate-Data', { ...groups, limit: 2_000 });
    assert.deepEqual([cut.results.length, cut.truncated], [2_000, true]);
    const total = await use('Aggregate-Data', { table: many, metrics: [{ op: 'count', as: 'n' }] });
    assert.equal(total.results[0].n, 2_005);
  });

  for (const [tool, max] of maxRows)
    test(`${tool} takes a limit of ${max}, and refuses one more`, async () => {
      const args = await sampleOf(tool);
      await use(tool, { ...args, limit: max });
      for (const limit of [max + 1, -1, 1.5, '5', null]) {
        const answer = await call(tool, { ...args, limit });
        assert.deepEqual([answer.isError, answer.json?.code], [true, 107], answer.text);
        assert.match(answer.text, limit === max + 1 ? new RegExp(`limit .*\\b${max}\\b`) : /limit/);
      }
    });

  for (const [tool, argument, item] of writers)
    test(`${tool} takes 1,000 items, and refuses 1,001 as a whole`, async () => {
      const rest = { ...(await sampleOf(tool)), table: 'Contacts' };
      const count = async () => (await world.find('Contacts', {})).length;
      const before = await count();
      const over = await call(tool, { ...rest, [argument]: Array(1_001).fill(item) });
      assert.deepEqual([over.isError, over.json?.code], [true, 107], over.text.slice(0, 300));
      assert.match(over.text, /1,?000/);
      const none = await call(tool, { ...rest, [argument]: [] });
      assert.deepEqual([none.isError, none.json?.code], [true, 107], none.text.slice(0, 300));
      assert.equal(await count(), before);
      const taken = await call(tool, { ...rest, [argument]: Array(1_000).fill(item) });
      assert.ok(!taken.isError && Buffer.byteLength(taken.text) <= BUDGET, taken.text.slice(0, 300));
    });

  test('an answer has some 60 KB at the most, and says where it goes on', async () => {
    const table = unique('Long');
    const data = Array.from({ length: 100 }, (_, at) => ({ Number: at, Text: `${at} `.padEnd(2_000, 'שלום ') }));
    await use('Create-Many', { table, data });
    const found: number[] = [];
    for (let skip: number | undefined = 0; skip !== undefined; ) {
      const { text, json } = await call('Get-Data', { table, limit: 100, order: 'Number', skip });
      assert.ok(Buffer.byteLength(text) <= BUDGET, String(text.length));
      assert.ok(json.results.length > 0);
      assert.equal(json.truncated === true, json.nextSkip !== undefined);
      found.push(...json.results.map((row: Json) => row.Number));
      skip = json.nextSkip;
    }
    assert.deepEqual(
      found,
      data.map(({ Number: number }) => number),
    );
    const groups = await call('Aggregate-Data', { table, groupBy: ['Text'], metrics: [{ op: 'count', as: 'n' }] });
    assert.ok(!groups.isError && groups.json.truncated && Buffer.byteLength(groups.text) <= BUDGET);
  });

  test('Get-Schema of all tables keeps within twice as much', async () => {
    const { text, isError } = await call('Get-Schema', {});
    assert.ok(!isError && Buffer.byteLength(text) <= 121_000);
  });

  test('reports about a whole system keep within it too', async () => {
    const { results } = await use('Get-Schema', { tablesNameOnly: true });
    const tables = results.map((one: Json) => one.className ?? one).slice(0, 20);
    for (const [tool, args] of [
      ['Get-Table-Stats', {}],
      ['Get-Roles', {}],
      ['Get-Terminology-Dictionary', { tables }],
      ['Get-Lookup-Values', { tables: ['CityList', 'Languages', 'Countries', 'LeadSource'] }],
      ['Get-Recent-Changes', { since: '2020-01-01T00:00:00.000Z', limit: 2_000 }],
    ] as const) {
      const answer = await call(tool, args);
      assert.ok(!answer.isError && Buffer.byteLength(answer.text) <= BUDGET, `${tool}: ${answer.text.slice(0, 300)}`);
    }
  });
}
