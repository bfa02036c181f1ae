import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { parseScannedJson, scanJson } from './json-long.ts';

const read = async (text: string): Promise<JsonValue> => parseScannedJson(scanJson(text));
const many = (count: number, member: (n: number) => string) => Array.from({ length: count }, (_, n) => member(n)).join();

const members = many(60_000, (n) => `{"a":[${n},"],{"],"b":"\\"[${n}"}`);
const texts: readonly (readonly [string, string])[] = [
  ['an array', `[${members}]`],
  ['an array under a key, among others', ` {"x":1,"requests" : [ ${members} ] ,"y":[[1],2],"z":{"a":[${many(300, String)}]}}\n`],
  ['two of one key', `{"a":[${members}],"a":[${many(120_000, String)}]}`],
  ['`__proto__`', `{"__proto__":[${members}],"constructor":[1]}`],
  ['long texts', `{"a":["${'x'.repeat(2_500_000)}","${'y'.repeat(2_500_000)}"]}`],
  ['a short one', '{"a":[1,2],"b":[]}'],
];
for (const [what, text] of texts)
  test(`a long text is read as JSON.parse reads it: ${what}`, async () => {
    const value = await read(text);
    assert.equal(JSON.stringify(value), JSON.stringify(JSON.parse(text)));
    assert.equal(Object.getPrototypeOf(value), Object.getPrototypeOf(JSON.parse(text)));
  });

test('long arrays are cut', () => {
  assert.equal(scanJson(`[${members}]`).arrays[0]?.slices.length, 9);
  assert.equal(scanJson('{"a":[1,2],"b":[]}').arrays.length, 0);
});

for (const [what, text] of [
  ['a comma at the end', `[${members},]`],
  ['nothing before the first comma', `[,${members}]`],
  ['an object that ends as an array does', `{"a":[${members}}]`],
  ['an array that does not end', `{"a":[${members}`],
  ['two values', `[${members}][1]`],
  ['a member that is none', `[${members},nope]`],
  ['an array in place of a key', `{[${members}]:1}`],
  ['a string that does not end', `[${members},"]`],
  ['NUL', `{"a":[${members},"\\u0000"]}`],
  ['a number too large', `[${members},1e999]`],
] as const)
  test(`a long text is refused: ${what}`, () => assert.rejects(read(text), { code: 107, message: /^Invalid JSON/ }));

test('values are counted, those that are read at once apart', async () => {
  const { jsonMarks, jsonMarksAtOnce } = limits;
  const most = `[${Array(jsonMarks).fill('0').join()}]`;
  assert.equal(((await read(most)) as JsonValue[]).length, jsonMarks);
  for (const text of [
    `[0,${most.slice(1)}`,
    `[[${Array(jsonMarksAtOnce + 1)
      .fill('0')
      .join()}]]`,
    `{${many(jsonMarksAtOnce / 2 + 1, (n) => `"${n}":0`)}}`,
  ])
    await assert.rejects(read(text), { code: 116, status: 413 });
});

test('keys of one object that are very many count as several values', async () => {
  const object = (keys: number) => `{${many(keys, (n) => `"${n}":0`)}}`;
  const records = `[${many(1_200, () => object(80))}]`;
  for (const text of [
    object(80_000),
    `{"_method":"PUT","o":${object(80_000)}}`,
    records,
    `{"requests":[{"body":{"list":${records}}}]}`,
  ])
    assert.deepEqual(await read(text), JSON.parse(text));
  for (const text of [object(82_000), `{"o":${object(82_000)}}`, `{"a":[1,{"o":${object(82_000)}}]}`])
    await assert.rejects(read(text), { code: 116, status: 413 });
});

test('texts of any form', () =>
  fc.assert(
    fc.asyncProperty(fc.json({ depthSize: 'medium' }), fc.nat(100), async (text, at) => {
      fc.pre(!/\\u(0000|d)/i.test(text));
      assert.deepEqual(await read(text), JSON.parse(text));
      const broken = text.slice(0, at) + text.slice(at + 1);
      const isWhole = (() => {
        try {
          JSON.parse(broken);
          return true;
        } catch {
          return false;
        }
      })();
      fc.pre(!/\\u(0000|d)/i.test(broken));
      if (!isWhole) await assert.rejects(read(broken), { code: 107 });
    }),
  ));
