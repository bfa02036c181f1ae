import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../kernel/limits.ts';
import { compileRegex, isLinear, PatternBudget, parseRegex as parse } from './index.ts';
import { expandedSize } from './size.ts';

const parseRegex = (pattern: string, options?: string) => parse(pattern, options, new PatternBudget());

const literals: ReadonlyArray<readonly [pattern: string, options: string, text: string, at: string]> = [
  ['^\\Qa.b\\E', '', 'a.b', 'start'],
  ['\\Qa.b\\E$', '', 'a.b', 'end'],
  ['\\Qa.b\\E', '', 'a.b', 'anywhere'],
  ['^abc$', '', 'abc', 'whole'],
  ['\\Aabc\\z', '', 'abc', 'whole'],
  ['abc', 's', 'abc', 'anywhere'],
  ['^a\\.b', '', 'a.b', 'start'],
  ['\\Qa\\E\\\\E\\Qb\\E', '', 'a\\Eb', 'anywhere'],
];
for (const [pattern, options, text, at] of literals)
  test(`plain text: ${pattern}`, () => assert.deepEqual(parseRegex(pattern, options).literal, { text, at }));

for (const [pattern, options] of [
  ['abc', 'i'],
  ['a b', 'x'],
  ['^abc', 'm'],
  ['a.c', ''],
  ['ab*', ''],
  ['\\Qab\\E+', ''],
  ['a|b', ''],
  ['\\d', ''],
  ['', ''],
  ['^', ''],
] as const)
  test(`no plain text: ${pattern}/${options}`, () => assert.equal(parseRegex(pattern, options).literal, undefined));

test('a pattern whose repeats come to more than a number holds is too large', () => {
  const count = '9'.repeat(400);
  for (const pattern of [`(a{${count}}){1}`, `(?=x)(?:a{${count}}){1}`, `${'('.repeat(60)}a${'{900}){9}'.repeat(60)}`])
    assert.throws(() => compileRegex(pattern, ''), /too large/);
});

const matches: ReadonlyArray<readonly [pattern: string, options: string, text: string, matches: boolean, linear: boolean]> = [
  ['b', '', 'abc', true, true],
  ['B', '', 'abc', false, true],
  ['B', 'i', 'abc', true, true],
  ['^b', 'm', 'a\nb', true, true],
  ['^b', '', 'a\nb', false, true],
  ['a.b', 's', 'a\nb', true, true],
  ['a.b', '', 'a\nb', false, true],
  ['a b # note\n c', 'x', 'abc', true, true],
  ['a[ ]b\\ c \\Q d\\E', 'x', 'a b c d', true, true],
  ['(?ix) A b', '', 'ab', true, true],
  ['a\\Z', '', 'a\n', true, true],
  ['(?#x)a', '', 'a', true, true],
  ["(?'n'a)b", '', 'ab', true, true],
  ['(?P<n>a)b', '', 'ab', true, true],
  ['\\u05d0', '', 'א', true, true],
  ['\\א+', '', 'אא', true, true],
  ['^\\Qa.b\\E+$', '', 'a.bb', true, true],
  ['[]a]b', '', ']b', true, true],
  ['[[:alpha:]]+1', '', 'ab1', true, true],
  ['^.$', '', '😀', true, true],
  ['a(?=b)', '', 'ab', true, false],
  ['a(?!b)', '', 'ab', false, false],
  ['(?<!x)ab', '', 'xab', false, false],
  ['(.)\\1', '', 'abb', true, false],
  ['(?P<n>a)(?=[[:digit:]])', 'i', 'A1', true, false],
  ['\\Aa(?=b)b\\z', '', 'xab', false, false],
  ['^\\Q(\\E(?=-)', '', '(-', true, false],
];
for (const [pattern, options, text, expected, linear] of matches)
  test(`match: ${JSON.stringify(pattern)}/${options} on ${JSON.stringify(text)}`, () => {
    assert.equal(compileRegex(pattern, options)(text), expected);
    assert.equal(isLinear(pattern, options), linear);
  });

for (const pattern of ['(', '[', 'a{2,1}', '*', 'a++', '(?>a)', '(a{1,1000}){1,1000}', '\\', '(?=a', '(?P<n>a)(?P<n>b)'])
  test(`refused: ${pattern}`, () =>
    assert.throws(
      () => parseRegex(pattern),
      (error) => error instanceof Error && error.message.startsWith('Invalid regular expression: ') && error.message.length < 100,
    ));

test('a pattern that would stall a backtracking engine', () => {
  const started = performance.now();
  assert.equal(compileRegex('(a+)+$', '')(`${'a'.repeat(50_000)}b`), false);
  assert.ok(performance.now() - started < 5_000);
});

const sizes: ReadonlyArray<readonly [pattern: string, size: number]> = [
  ['', 0],
  ['abc', 3],
  ['a{3}', 3],
  ['(ab){3}', 6],
  ['(a{10}b){2,5}c', 56],
  ['a{0}b{2,}', 3],
  ['[a-z{5}]{4}', 4],
  ['[^]\\]x{9}]{2}', 2],
  ['\\p{Hebrew}{7}\\{3}', 10],
  ['(a|b', 3],
  ['a)b', 2],
  ['{5}a{x}', 4],
  ['a+{2}', 3],
  ['(){9}', 9],
  ['(?:(){5}){4}', 28],
];
for (const [pattern, size] of sizes) test(`size of ${pattern}`, () => assert.equal(expandedSize(pattern), size));

test('a pattern whose counted repeats are too large is refused before it costs anything', () => {
  const started = performance.now();
  for (const pattern of ['[a-z]{1000}'.repeat(900), '\\p{L}{500}'.repeat(800), `(?=a)${'x{1000}'.repeat(900)}`])
    assert.throws(() => parseRegex(pattern, 'i'), { message: 'Invalid regular expression: expression too large' });
  assert.ok(performance.now() - started < 500);
});

test('too long, bad options', () => {
  assert.throws(() => parseRegex('a'.repeat(limits.regexLength + 1), ''), { message: /longer than/ });
  assert.throws(() => parseRegex('a', 'g'), { message: 'Bad $options value for query: g' });
  assert.equal(parseRegex('a.', 'mii').options, 'im');
});

for (const [name, pattern, options] of [
  ['classes of hundreds of ranges', '\\pL'.repeat(3_000), ''],
  ['wide ranges whose other cases are looked up', '[!-𐀀]'.repeat(1_600), 'i'],
  ['the same by escapes', '[\\x{21}-\\x{10000}]'.repeat(500), 'i'],
  ['the same by a flag inside', `(?i)${'[!-𐀀]'.repeat(1_600)}`, ''],
  ['groups of nothing', '(?:(?:()){1000}){1000}', ''],
  ['many words that backtrack', `(?=a)${'.'.repeat(9_000)}`, 'i'],
  ['ends of words in a row that backtrack', `(?=a)${'(?:\\b)'.repeat(40)}`, ''],
  ['ends of words in each other that backtrack', `(?=a)${'(\\b'.repeat(40)}${'x)*'.repeat(40)}`, 'i'],
  ['lookaround in each other', `${'(?=a'.repeat(2_000)}${')'.repeat(2_000)}`, ''],
  ['properties of all characters', `(?=a)${['Lu', 'Ll', 'Nd', 'Sc', 'Po'].map((one) => `\\p{${one}}`).join('')}`, 'i'],
] as const)
  test(`refused by its text alone: ${name}`, () => {
    const started = performance.now();
    assert.throws(() => parseRegex(pattern, options), { message: 'Invalid regular expression: expression too large' });
    assert.ok(performance.now() - started < 2_000);
  });

test('an empty text is not held against a pattern before it is asked for', () => {
  const started = performance.now();
  parseRegex('(?:|a?|b?){40}(?=z)(?<!q)', '');
  assert.ok(performance.now() - started < 2_000);
});

for (const [pattern, options] of [
  [`^(?:${Array.from({ length: 300 }, (_, n) => `Dana Levi ${n}`).join('|')})$`, 'i'],
  ["^[\\p{L}\\p{M} .'-]{2,80}$", ''],
  ['^[\\u05d0-\\u05ea ]+$', 'i'],
  ['^(?=.*\\bred\\b)(?=.*\\bblue\\b)(?=.*\\bbig\\b).*$', 'i'],
  ['^(?=.*\\p{Lu})(?=.*\\p{Ll})(?=.*\\d).{8,64}$', ''],
  ['[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,24}', 'i'],
] as const)
  test(`taken: ${pattern.slice(0, 60)}/${options}`, () => assert.equal(parseRegex(pattern, options).kind, 'pattern'));

test('a budget counts what is new, and stops before it is compiled', () => {
  const budget = new PatternBudget(1_000);
  for (let round = 0; round < 100; round++) parse(`(?:a|b){10}c`, 'i', budget);
  assert.throws(() => parse('[a-z]{990}', '', budget), {
    message: 'Invalid regular expression: the patterns are too large together',
  });
  const part = new PatternBudget(1_000, budget);
  assert.throws(() => Array.from({ length: 60 }, (_, n) => parse(`a{9}b${n}?`, '', part)), { message: /too large together/ });
});

test('what patterns remember of their matches is bounded', () => {
  const started = process.memoryUsage().heapUsed;
  const text = Array.from({ length: 20_000 }, (_, n) => 'abcd'[(n * n + (n >> 3)) % 4]).join('');
  for (let n = 0; n < 60; n++) assert.equal(compileRegex(`(a|b|c|d)*a(a|b|c|d){9}z${n}`, '')(text), false);
  assert.ok(process.memoryUsage().heapUsed - started < 150_000_000);
});
