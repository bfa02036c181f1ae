import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Holder, readElements } from './json-elements.ts';

async function elementsOf(text: string, size: number, holder: Holder = 'results'): Promise<(string | null)[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return (await Array.fromAsync(readElements(chunks(), holder))).flat();
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
        (await elementsOf(text, size)).map((line) => JSON.parse(line ?? 'null')),
        records,
        `chunks of ${size}`,
      );
  });

test('an export that is cut off is reported', async () => {
  for (const text of ['{"results":[{"a":1},{"a"', '{"results":[{"a":1}', '{"results":[{"a":1}]'])
    await assert.rejects(elementsOf(text, 3), /cut off/);
});

test('what stands beside the lists of a file is no record, and is reported', async () => {
  const strays: [string, Holder][] = [
    ['[{"a":1}] junk', 'list'],
    ['[{"a":1}]\n{"a":2}', 'list'],
    ['[{"a":1}]]', 'list'],
    ['{"results":[{"a":1}]}\n[{"a":2}]', 'results'],
    ['{"results":[]} "x"', 'results'],
  ];
  for (const [text, holder] of strays) await assert.rejects(elementsOf(text, 3, holder), /beside the list/, text);
});

const files: [text: string, holder: Holder, records: unknown[]][] = [
  ['[{"a":1}, 2 ,[3],"x"]', 'list', [{ a: 1 }, 2, [3], 'x']],
  ['\uFEFF [ ]\n[{"a":"]"}]', 'list', [{ a: ']' }]],
  ['{"a":[{"b":1}]}\n\n{\n "c": 2\n}\n', 'file', [{ a: [{ b: 1 }] }, { c: 2 }]],
  ['{"a":1}{"a":2}', 'file', [{ a: 1 }, { a: 2 }]],
];
for (const [text, holder, records] of files)
  test(`records of ${JSON.stringify(text)} (${holder}), wherever its chunks end`, async () => {
    for (let size = 1; size <= Buffer.byteLength(text); size++) {
      const found = await elementsOf(text, size, holder);
      assert.deepEqual(
        found.map((one) => JSON.parse(one ?? 'null')),
        records,
        `chunks of ${size}`,
      );
    }
  });
