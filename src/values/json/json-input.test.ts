import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRequestJson } from './json-input.ts';

const nested = (levels: number, padding = '') => `${'['.repeat(levels)}"${padding}"${']'.repeat(levels)}`;
const long = 'x'.repeat(20_000);

const accepted: string[] = [
  '{"a":[1,"b",null,true,{"c":-0.5e-3}]}',
  nested(100),
  nested(100, long),
  `{"a":"${'['.repeat(30_000)}\\"[{${'\\\\'.repeat(10_001)}"}`,
  '"\\u05e9\\ud83d\\ude42"',
  JSON.stringify({ [`${'"\\'.repeat(9_000)}{`]: [`${'\\'.repeat(9_001)}"`, '['.repeat(101)] }),
  '"\u2028\ufeff\u0085🙂"',
  '1e308',
  '{"__proto__":{"constructor":1}}',
];
for (const text of accepted) test(`reads ${text.slice(0, 60)}`, () => assert.deepEqual(parseRequestJson(text), JSON.parse(text)));

const refused: [string, string][] = [
  ['malformed text', '{"a":}'],
  ['no text', ''],
  ['101 levels', nested(101)],
  ['101 levels in a long text', nested(101, long)],
  ['101 levels of objects', `${'{"a":'.repeat(101)}1${'}'.repeat(101)}`],
  ['100,000 levels', nested(100_000)],
  ['levels that never close', '['.repeat(15_000_000)],
  ['a long text that never ends a string', `"${long}`],
  ['NUL in a string', '["\\u0000"]'],
  ['NUL in a key', '{"a\\u0000":1}'],
  ['half a pair, escaped', '{"a":["\\uD83D"]}'],
  ['the other half, escaped', '"\\ude42\\ud83d"'],
  ['half a pair in a key', '{"\\udfff":1}'],
  ['a number too large', '{"a":[1e999]}'],
  ['a long number too large', `-${'9'.repeat(400)}`],
];
for (const [what, text] of refused)
  test(`refuses ${what}`, () => assert.throws(() => parseRequestJson(text), { code: 107, message: /^Invalid JSON: / }));

const object = (keys: number) => `{${Array.from({ length: keys }, (_, at) => `"k${at}":0`).join()}}`;
const manyValues: [string, string, number][] = [
  ['objects of an array', `[${Array(10_000).fill('{}').join()}]`, 20_000],
  ['numbers of an array', `[${Array(10_000).fill('0').join()}]`, 10_000],
  ['keys of an object', object(2_000), 4_000],
  ['keys of which an object has very many', object(10_000), 44_000],
  ['keys of many objects', `[${Array(50).fill(object(2_000)).join()}]`, 200_050],
  ['keys at several levels', `{"a":${object(2_000)},"b":[${object(2_000)}],"c":0}`, 8_007],
  ['arrays in arrays', `[${Array(5_000).fill('[[[]]]').join()}]`, 20_000],
  ['marks in strings, which do not count', `{"a":["${',:[{\\"'.repeat(5_000)}"]}`, 3],
];
for (const [what, text, marks] of manyValues)
  test(`values are counted before they are made: ${what}`, () => {
    assert.deepEqual(parseRequestJson(text, 100, marks), JSON.parse(text));
    assert.deepEqual(parseRequestJson(text), JSON.parse(text));
    assert.throws(() => parseRequestJson(text, 100, marks - 1), { code: 116, status: 413 });
  });

test('reads what JSON.parse reads, wherever the depth is counted first', () =>
  fc.assert(
    fc.property(fc.json({ depthSize: 'large' }), fc.boolean(), (text, isLong) => {
      const padded = isLong ? `${text}${' '.repeat(20_000)}` : text;
      fc.pre(!/\\u(0000|d)/i.test(text));
      assert.deepEqual(parseRequestJson(padded), JSON.parse(text));
    }),
  ));
