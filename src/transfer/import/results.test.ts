import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isParseExport, readResults } from './results.ts';

async function resultsOf(text: string, size: number): Promise<(string | null)[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return (await Array.fromAsync(readResults(chunks()))).flat();
}

const cases: [text: string, records: unknown[]][] = [
  ['{"results":[]}', []],
  ['{"results":[{"a":1}]}', [{ a: 1 }]],
  ['{ "results" : [\n\t{"a":[1,{"b":"]}"}]} ,\n {"s":"\\"],[{"}\n]\n}\n', [{ a: [1, { b: ']}' }] }, { s: '"],[{' }]],
  ['{"count":2,"results":[{"a":1},{"results":[1,2]}],"more":{"results":[3]}}', [{ a: 1 }, { results: [1, 2] }]],
  ['{"results":[{"a":1}]}\n{"results":[{"a":2}]}', [{ a: 1 }, { a: 2 }]],
  ['{"results":[1, "x" ,null,[2],{}]}', [1, 'x', null, [2], {}]],
  ['{"results":[{"שם":"דנה 😀"}]}', [{ שם: 'דנה 😀' }]],
];
for (const [text, records] of cases)
  test(`records of ${JSON.stringify(text)}, wherever its chunks end`, async () => {
    for (let size = 1; size <= Buffer.byteLength(text); size++)
      assert.deepEqual(
        (await resultsOf(text, size)).map((line) => JSON.parse(line ?? 'null')),
        records,
        `chunks of ${size}`,
      );
  });

test('an export that is cut off is told', async () => {
  for (const text of ['{"results":[{"a":1},{"a"', '{"results":[{"a":1}', '{"results":[{"a":1}]'])
    await assert.rejects(resultsOf(text, 3), /cut off/);
});

for (const [text, isOne] of [
  ['{"results":[{"a":1}]}', true],
  ['\uFEFF\n { "results"\t: [\n', true],
  ['{"count":12,"results":[', true],
  ['{"results":{"a":1}}', false],
  ['{"name":"x","results":[]}', false],
  ['[{"results":[]}]', false],
  ['', false],
] as const)
  test(`${JSON.stringify(text)} is ${isOne ? 'an' : 'no'} export of Parse`, () => assert.equal(isParseExport(text), isOne));
