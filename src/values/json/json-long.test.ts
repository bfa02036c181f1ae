import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { parseRequestJson } from './json-input.ts';
import { JsonParts, parseScannedJson, scanJson } from './json-long.ts';
import { bodyBounds, JsonScan, type PartSize } from './json-scan.ts';

const scan = (text: string) => scanJson(text, bodyBounds, 'app');
const read = async (text: string): Promise<JsonValue> => parseScannedJson(await scan(text), limits.jsonDepth, 'app');
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

test('long texts are divided, at any depth and inside strings', async () => {
  for (const [text, least] of [
    [`[${members}]`, 9],
    [`{"a":{"b":[{"c":[${many(300_000, String)}]}]}}`, 9],
    [`{${many(70_000, (n) => `"k${n}":1`)}}`, 9],
    [`{"a":"${'\\n'.repeat(2_500_000)}"}`, 4],
    ['{"a":[1,2],"b":[]}', 0],
  ] as const) {
    const { cuts } = await scan(text);
    assert.ok(cuts.length >= least && cuts.length <= 3 * least, `${cuts.length}`);
  }
});

test('a long text gives way to others between its parts', async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  count();
  await read(`[${members},${members},${members}]`).finally(() => {
    isDone = true;
  });
  assert.ok(turns > 10, `${turns}`);
});

for (const [what, text] of [
  ['a comma at the end', `[${members},]`],
  ['nothing before the first comma', `[,${members}]`],
  ['nothing before the comma at which it is divided', `[${' '.repeat(1_000_000)},1]`],
  ['no member before that comma', `{${' '.repeat(1_000_000)},"a":1}`],
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

/** Parses a text in parts of the size. */
function inParts(text: string, size: PartSize): JsonValue {
  const found = new JsonScan(text, bodyBounds, size);
  while (!found.step(1 + size.characters));
  const parts = new JsonParts(text, limits.jsonDepth);
  for (let at = 0; at <= found.cuts.length; at++) parts.add(found.cuts[at - 1], found.cuts[at]);
  return parts.value;
}

// No backslash: V8 takes an escaped key after it for it.
const someKeys = fc.constantFrom('a', '1', '0', '__proto__', 'constructor', '"', 'é😀', '');
const someTexts = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.constantFrom('\\\n"\t', '😀😀', 'שלום', '[{,:}]"'));
const { any } = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 5 }, fc.integer(), fc.constant(-1.5), fc.boolean(), someTexts, tie('array'), tie('object')),
  array: fc.array(tie('any')),
  object: fc.array(fc.tuple(someKeys, tie('any'))).map((members) => new Members(members)),
}));

/** An object whose keys may repeat in its text. */
class Members {
  readonly members: (readonly [string, unknown])[];
  constructor(members: (readonly [string, unknown])[]) {
    this.members = members;
  }
}

/** Returns JSON text, with escapes and white space. */
function textOf(value: unknown, isEscaped: boolean): string {
  if (Array.isArray(value)) return `[ ${value.map((one) => textOf(one, isEscaped)).join(' ,')}]`;
  if (value instanceof Members)
    return `{${value.members.map(([key, one]) => `${textOf(key, isEscaped)} : ${textOf(one, isEscaped)}`).join(', ')} }`;
  const text = JSON.stringify(value);
  if (!isEscaped || typeof value !== 'string') return text;
  return `"${Array.from({ length: value.length }, (_, at) => `\\u${value.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
}

test('parts of any size make the value that JSON.parse makes', () =>
  fc.assert(
    fc.property(
      any,
      fc.boolean(),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 30 }),
      fc.nat(1_000),
      (made, isEscaped, marks, characters, at) => {
        const text = textOf(made, isEscaped);
        const size = { marks, characters };
        assert.equal(JSON.stringify(inParts(text, size)), JSON.stringify(JSON.parse(text)));
        // Half of a pair is refused in a part, even if JSON.parse drops it with its key.
        if (isEscaped) return;
        const broken = text.slice(0, at % text.length) + text.slice((at % text.length) + 1);
        let whole: JsonValue;
        try {
          whole = parseRequestJson(broken);
        } catch {
          assert.throws(() => inParts(broken, size), { code: 107 });
          return;
        }
        assert.equal(JSON.stringify(inParts(broken, size)), JSON.stringify(whole));
      },
    ),
    { numRuns: 2_000 },
  ));

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
