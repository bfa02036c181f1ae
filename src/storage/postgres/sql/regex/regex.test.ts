import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRegex } from '../../../../query/regex/index.ts';
import { postgresPattern } from './index.ts';
import { startMatcher } from './testing/matcher.ts';

const matched = await startMatcher();

const cases: ReadonlyArray<readonly [pattern: string, options: string, texts: readonly string[]]> = [
  ['', '', ['', 'a']],
  ['^$', '', ['', 'a', '\n']],
  ['a|', '', ['', 'b']],
  ['^(?:a||b)$', '', ['', 'a', 'b', 'c']],
  ['()*^(|a)*$', '', ['', 'aa', 'b']],
  ['(?:^)*a', '', ['a', 'ba']],
  ['(?:^|a)+b', '', ['b', 'cab', 'cb']],
  ['\\b*a\\B+', '', ['a', 'ab', ' a']],
  ['\\*\\*\\*:a', '', ['***:a', 'a']],
  ['(?i)K', '', ['k', 'K', '\u212a', 'x']],
  ['s', 'i', ['s', 'S', 'ſ', 'ß']],
  ['\\w', 'i', ['ſ', '\u212a', 'é']],
  ['[^s]', 'i', ['S', 'ſ', 'x']],
  ['é', 'i', ['É', 'é', 'e']],
  ['a(?i)b|c', '', ['aB', 'C', 'Ab']],
  ['(?:a(?i)b)c', '', ['aBc', 'aBC']],
  ['(?-s:.)a.', 's', ['\na\n', 'ba\n']],
  ['(?m-i:^a)B', 'i', ['\nab', '\nAb', 'AB']],
  ['^a$', 'm', ['b\na\nc', 'a\rb', 'a']],
  ['a\\Z', '', ['a\n', 'a\n\n', 'a']],
  ['[[:alpha:]-]+$', '', ['a-', '1']],
  ['[!-[:a:]]', '', [':]', 'a]', '!', '%]']],
  ['[^\\x00-\\x{10FFFF}]', '', ['', 'a']],
  ['a[^\\x00-\\x{10FFFF}]*b', '', ['ab', 'a']],
  ['[\\]\\\\^-]', '', [']', '\\', '^', '-', 'a']],
  ['[]a]b', '', [']b', 'ab', 'b']],
  ['a{,2}', '', ['a{,2}', 'aa']],
  ['a{01}', '', ['a{01}', 'a']],
  ['a{', '', ['a{', 'a']],
  ['^a{300}$', '', ['a'.repeat(299), 'a'.repeat(300), 'a'.repeat(301)]],
  ['^a{2,700}$', '', ['a', 'a'.repeat(2), 'a'.repeat(700), 'a'.repeat(701)]],
  ['^a{256,}$', '', ['a'.repeat(255), 'a'.repeat(256), 'a'.repeat(2000)]],
  ['^(?:ab){0,1000}$', '', ['', 'ab'.repeat(1000), 'ab'.repeat(1001)]],
  ['^.$', '', ['😀', 'a', '\n']],
  ['[😀-😂]', '', ['😁', '\ud83d\ude03']],
  ['\\p{Greek}\\PL', '', ['α1', 'a1', 'αβ']],
  ['\\Qa.b\\E+\\Q', '', ['a.bb', 'axb']],
  ['a\\x{62}\\143\\07\\0', '', ['abc\u0007']],
  ['a # b\n [ ] c', 'x', ['a c', 'ac']],
  ['(?P<n>a)(?<m>b)', '', ['ab']],
  ['a(?=b)', '', ['ab', 'ac']],
  ['(?<!x)ab', '', ['xab', 'ab', 'yab']],
  ['^(?=.*\\d)(?=.*[a-z])[\\s\\S]{4,}$', '', ['abc1', 'abcd', 'a1', 'a1\nbc']],
  ['(?=.*[\\@\\#]).', '', ['a@', 'a']],
  ['(?=a){', '', ['a{', 'a']],
  ['(?!a)\\s.', 's', ['\u00a0a', '\ufeffb', 'ab']],
  ['(?=.)^.$', 'm', ['a\u2028b', 'ab', 'x\r']],
  ['(.)\\1', '', ['abb', 'abc', '😀😀']],
  ['(\\w+) \\1', 'i', ['the The', 'the a']],
  ['^(a)?b\\1$', '', ['aba', 'b', 'ab', 'ba']],
  ['(?:(a)|b)(?!c)', '', ['a', 'b', 'bc']],
  ['^(?:(a)|\\1b)$', '', ['a', 'b', 'aab']],
  ['^\\1(a)\\1$', '', ['aa', 'a', 'aaa']],
  ['^(a\\1)$', '', ['a', 'aa']],
  ['(?!(b))\\1a', '', ['a', 'b']],
  ['^(?:(a|b)c)+\\1$', '', ['acbcb', 'acbca']],
  ['(?<x>a)(.)\\k<x>\\2', '', ['abab', 'abaa']],
  ["(?'q'['\"]).*?\\k<q>", '', ["'a'", '\'a"']],
  ['(a)\\10*', '', ['aa0', 'a']],
  ['^(a)\\1(?:)0$', '', ['aa0', 'a0']],
  [
    '(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)-\\1\\2\\3\\4\\5\\6\\7\\8\\9\\10\\11',
    '',
    ['abcdefghijk-abcdefghijk', 'abcdefghijk-abcdefghia0aa'],
  ],
  ['^(.)\\1{12}0?$', '', ['a'.repeat(13), 'a'.repeat(12)]],
  ['^()(?:\\1|c){3}$', '', ['', 'ccc']],
  ['^(a?)(?:\\1|c){2,3}b$', '', ['b', 'cb', 'aacb', 'aaaab', 'aaaaab']],
  ['(?=(?:a?b?){300}$)^', '', ['ab', 'c']],
  ['^(?:a{0,2}){3,4}$', '', ['', 'a'.repeat(8), 'a'.repeat(9)]],
  ['^a?a?a+a{2}b*b?$', '', ['aa', 'aaa', 'aaaabb']],
  [`^${'.?'.repeat(2000)}$`, '', ['', 'a'.repeat(2000), 'a'.repeat(2001)]],
  ['^(?:a+){3,}$', '', ['aa', 'aaa', 'a'.repeat(9)]],
  ['^(?:a+)?(?:b*){2}(?:c{2})*$', '', ['', 'aabbcc', 'c', 'cccc']],
  [`${'('.repeat(900)}a${')'.repeat(900)}(?=b)`, '', ['ab', 'a']],
  [`${'(?:'.repeat(400)}a${')*'.repeat(400)}b`, '', ['aab', 'a']],
  ['\\Aa(?=b)b\\z', '', ['ab', 'xab']],
  ['(?=\\u00e9)\\x{e9}', '', ['é', 'e']],
  ['\\b(?=k)', 'i', ['a k', 'ak', 'ſ\u212a']],
  ['(?=[\\W])[^\\P{Lu}]|-', 'i', ['a', '-', '\u212a']],
];
for (const [pattern, flags, candidates] of cases)
  test(`${JSON.stringify(pattern).slice(0, 60)}/${flags}`, async () => {
    assert.deepEqual(await matched(postgresPattern(pattern, flags), candidates), candidates.filter(compileRegex(pattern, flags)));
  });

for (const pattern of ['(?:(a)|b)\\1', '(a)*\\1', '(?=(a))\\1', '(.)(?!\\1)', '^(?!.*(.).*\\1)', '(?:(a)){300}\\1', '(?<!a'])
  test(`refused: ${pattern}`, () =>
    assert.throws(
      () => postgresPattern(pattern, ''),
      (error) => error instanceof Error && error.message.startsWith('Invalid regular expression: '),
    ));
