/** Errors in the parameters of an export are the same as those of a query. Reference: export.md#export-over-http. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { create, defineTable, tableName } from '../../support/query.ts';
import { onSampledEngine } from '../sampled.ts';
import { headersOf } from './exporting.ts';

/** Parameters that queries have too, in a URL. */
const malformed: readonly string[] = [
  ...['{', '1', '[]', '"x"', '', 'null', '{"a"}', '%FF', '['.repeat(5_000), '{"a":'.repeat(2_000)].map(
    (where) => `where=${where}`,
  ),
  ...['{"Name":"\\u0000"}', '{"Name":"\\ud800"}', '{"Name":{"$foo":1}}', '{"__proto__":1}'].map((where) => `where=${where}`),
  `where={"$or":[${'{"Num":1},'.repeat(1_400)}{}]}`,
  'where={}&where={',
  ...['1', '{', '["Name"]', 'Name,'.repeat(2_500)].map((order) => `order=${order}`),
  ...['1', '{', 'a,'.repeat(6_000)].map((keys) => `keys=${keys}`),
  ...['{', 'a.'.repeat(4_000)].map((include) => `include=${include}`),
  'nope=1',
  '__proto__=1',
];

/** The same in the body of a POST, with types. */
const mistyped: readonly Record<string, unknown>[] = [
  ...[1, '{', [], null, true].map((where) => ({ where })),
  ...[1, {}, [1], null, true].flatMap((names) => [{ order: names }, { keys: names }, { include: names }]),
];

/** Invalid values of parameters that only exports have. */
const ofExports: readonly Record<string, unknown>[] = [
  ...['xls', '', '["csv"]', 1, ['csv'], {}, null].map((format) => ({ format })),
  ...['2', 'perhaps', '', [], null].flatMap((flag) => [{ bom: flag }, { raw: flag }]),
  ...['ndjson', 'json'].flatMap((format) => [
    { format, bom: true },
    { format, raw: true },
  ]),
  ...['limit', 'skip', 'count'].map((name) => ({ [name]: '1' })),
];

onSampledEngine((get) => {
  const table = tableName('Parameters');
  before(async () => {
    await defineTable(get(), table, { Name: 'String', Num: 'Number' });
    await create(get(), table, { Name: 'a', Num: 1 });
  });

  async function byAddress(path: string, query: string) {
    const response = await fetch(new URL(`/platform/${path}/${table}?${query}`, get().url), { headers: headersOf(get()) });
    return { status: response.status, text: await response.text() };
  }

  async function byBody(path: string, body: Record<string, unknown>) {
    const { status, text } = await get().call('POST', `/platform/${path}/${table}`, { body: { _method: 'GET', ...body } });
    return { status, text };
  }

  test('Export: malformed parameters are refused with the error of a query', async () => {
    for (const query of malformed) {
      const answer = await byAddress('export', query);
      assert.deepEqual(answer, await byAddress('classes', query), query.slice(0, 100));
      assert.notEqual(answer.status, 200, query.slice(0, 100));
    }
    for (const body of mistyped) {
      const answer = await byBody('export', body);
      assert.deepEqual(answer, await byBody('classes', body), JSON.stringify(body));
      assert.notEqual(answer.status, 200, JSON.stringify(body));
    }
  });

  test('Export: invalid values of its own parameters are 400 code 102 with the name of the parameter', async () => {
    for (const body of ofExports) {
      const { status, text } = await byBody('export', body);
      assert.deepEqual([status, JSON.parse(text).code], [400, 102], `${JSON.stringify(body)}: ${text}`);
      const name = Object.keys(body).at(-1) ?? '';
      assert.match(text, new RegExp(`\\b${name}\\b`));
    }
  });

  test('Export: of a repeated parameter the last counts', async () => {
    for (const [query, begins] of [
      ['where={&where={}&format=json', '{"results":['],
      ['format=csv&format=json', '{"results":['],
      ['keys=Nope&keys=Name', 'Name\r\n'],
    ] as const) {
      const { status, text } = await byAddress('export', query);
      assert.equal(status, 200, text);
      assert.ok(text.startsWith(begins), text);
    }
  });
});
