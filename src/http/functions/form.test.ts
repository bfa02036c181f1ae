import assert from 'node:assert/strict';
import { unescape as decodePercents } from 'node:querystring';
import { test } from 'node:test';
import { decodeText } from '../endpoint/parse-request.ts';
import { parseForm, parseLongForm } from './form.ts';

for (const [text, fields] of [
  ['', {}],
  ['&&', {}],
  ['a=1&b=two+words&c=%D7%A9%D7%9C%D7%95%D7%9D', { a: '1', b: 'two words', c: 'שלום' }],
  ['a', { a: '' }],
  ['a=', { a: '' }],
  ['=x', { '': 'x' }],
  ['a=b=c', { a: 'b=c' }],
  ['?a=b', { '?a': 'b' }],
  ['a%3Db=c%26d', { 'a=b': 'c&d' }],
  ['first+name=x&phone=%2B972-50', { 'first name': 'x', phone: '+972-50' }],
  ['a=שלום', { a: 'שלום' }],
  ['a=1;b=2', { a: '1;b=2' }],
  ['a=line%0D%0Atwo', { a: 'line\r\ntwo' }],
  // Invalid escapes stay; bytes that are not UTF-8 become replacement characters.
  ['a=100%&b=%zz&c=%4', { a: '100%', b: '%zz', c: '%4' }],
  ['a=%ff&b=%ED%A0%80', { a: '\ufffd', b: '\ufffd\ufffd\ufffd' }],
  // Repeated names, and names that end in [].
  ['a=2&a=1&a=2', { a: ['2', '1', '2'] }],
  ['a[]=1', { a: ['1'] }],
  ['a%5B%5D=1&a%5B%5D=0', { a: ['1', '0'] }],
  ['a=1&a[]=2&a=3', { a: ['1', '2', '3'] }],
  ['a[]=1&a=2', { a: ['1', '2'] }],
  ['a[][]=1&a[0]=2&[]=3', { 'a[]': ['1'], 'a[0]': '2', '': ['3'] }],
] as const)
  test(`form ${JSON.stringify(text)}`, () => assert.deepEqual(parseForm(text), fields));

test('names of the language are names as others are', () => {
  const fields = parseForm('__proto__=1&__proto__.x=2&constructor=3&toString[]=4&hasOwnProperty');
  assert.deepEqual(Object.entries(fields), [
    ['__proto__', '1'],
    ['__proto__.x', '2'],
    ['constructor', '3'],
    ['toString', ['4']],
    ['hasOwnProperty', ''],
  ]);
  assert.equal(Object.getPrototypeOf(fields), Object.prototype);
  assert.equal(({} as { x?: unknown }).x, undefined);
  assert.deepEqual(Object.entries(parseForm('__proto__=1&__proto__=2')), [['__proto__', ['1', '2']]]);
});
for (const text of ['a=%00', '%00=a', 'a=b\0', 'a=%ff%00'])
  test(`NUL is refused: ${JSON.stringify(text)}`, () => assert.throws(() => parseForm(text), { key: 'invalidJson' }));
test('a form has up to 5,000 different names, each as often as it likes', () => {
  const form = (names: number) => Array.from({ length: names }, (_, n) => `n${n}=1&n${n}=2`).join('&');
  const read = parseForm(form(5_000));
  assert.deepEqual([Object.keys(read).length, read.n4999], [5_000, ['1', '2']]);
  assert.throws(() => parseForm(form(5_001)), { key: 'invalidJson' });
});
test('a form of many values is read in linear time, one of too many not at all', () => {
  const values = (count: number) => 'a&'.repeat(count).slice(0, -1);
  assert.equal((parseForm(values(100_000)).a as string[]).length, 100_000);
  const started = performance.now();
  assert.throws(() => parseForm(values(10_000_000)), { key: 'invalidJson' });
  assert.ok(performance.now() - started < 2_000);
});
for (const [what, unit] of [
  ['escapes', '%D7%A9a+'],
  ['characters of four bytes', '%F0%9F%98%80'],
  ['invalid escapes', '%%zz%4'],
  ['bytes that are not UTF-8', '%ff%80'],
  ['plain text', 'שלום 😀'],
] as const)
  test(`a long form is read as a short one is: ${what}`, async () => {
    const text = `a=${unit.repeat(60_000)}&${unit.repeat(40_000)}=b&c=${unit}`;
    const read = await parseLongForm(text, 'app');
    const part = decodeText(unit, decodePercents);
    assert.deepEqual(Object.keys(read), ['a', part.repeat(40_000), 'c']);
    assert.ok(read.a === part.repeat(60_000));
    assert.deepEqual(parseForm(text), read);
  });
