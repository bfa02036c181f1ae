import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileRegex } from '../../../../query/regex/index.ts';
import { postgresPattern } from './index.ts';
import { startMatcher } from './testing/matcher.ts';

const matched = await startMatcher();

/** Letters with uncommon case pairs, line terminators, and a character of two UTF-16 units. */
const characters = ['a', 'b', 'k', 'K', '\u212a', 's', 'ſ', 'é', 'É', 'ß', 'א', '😀', '1', '_', '-', ' ', '\n', '\r', '\u2028'];
const character = fc.constantFrom(...characters);
const literal = fc.oneof({ weight: 4, arbitrary: fc.constantFrom('a', 'b', 'k', 's') }, character);

const classEscape = fc.constantFrom('\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\p{L}', '\\P{Lu}', '\\p{Ll}', '\\n');
const classMember = fc.oneof(
  character.filter((each) => each !== '-'),
  classEscape,
  fc.constantFrom('a-k', 'A-Z', '\\-', 'а-я'),
);
const characterClass = fc
  .tuple(fc.constantFrom('[', '[^'), fc.array(classMember, { minLength: 1, maxLength: 3 }))
  .map(([open, members]) => `${open}${members.join('')}]`);
const assertion = fc.constantFrom('^', '$', '\\b', '\\B');
const counts = fc.constantFrom('*', '+', '?', '*?', '{2}', '{0,1}', '{1,}', '{1,3}', '{0}', '{2,}?');

const re2Only = fc.constantFrom(
  '\\A',
  '\\z',
  '[[:alpha:]]',
  '[^[:space:]\\x41]',
  '(?i)',
  '(?s)',
  '(?m-i)',
  '\\x{212A}',
  '\\pL',
  '\\141',
);
const javascriptOnly = fc.constantFrom('\\u{41}', '\\cA', '\\p{Script=Greek}', '[\\b]', '\\0');

/** Patterns that RE2 accepts. */
const re2Pattern = grammar(re2Only, ['(?:', '(', '(?P<>', '(?i:', '(?s-i:', '(?m:'], []);
/** Patterns with features that RE2 lacks; some are rejected by both engines. */
const javascriptPattern = grammar(
  javascriptOnly,
  ['(?:', '(', '(?<>', '(?s:', '(?-m:', '(?=', '(?!', '(?<=', '(?<!'],
  ['\\1', '\\2'],
).map((pattern) => `${pattern}(?!xxx)`);

/** Short texts of the characters that occur in patterns. */
const texts = textsOf(characters);
/** Without surrogate pairs: V8 finds a `\B` between the halves of one; the database does not. */
const textsOfOneUnit = textsOf(characters.filter((each) => each !== '😀'));

const options = fc.subarray(['i', 'm', 's']).map((flags) => flags.join(''));

function grammar(own: fc.Arbitrary<string>, opens: readonly string[], references: readonly string[]): fc.Arbitrary<string> {
  let names = 0;
  const { pattern } = fc.letrec<{ pattern: string; branch: string; piece: string; atom: string }>((tie) => ({
    pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|')),
    branch: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
    piece: fc.oneof(
      { weight: 3, arbitrary: tie('atom') },
      { weight: 2, arbitrary: fc.tuple(tie('atom'), counts).map(([atom, count]) => atom + count) },
    ),
    atom: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 6, arbitrary: literal },
      { weight: 2, arbitrary: fc.constant('.') },
      { weight: 2, arbitrary: characterClass },
      { weight: 1, arbitrary: classEscape },
      { weight: 1, arbitrary: assertion },
      { weight: 1, arbitrary: own },
      { weight: references.length, arbitrary: fc.constantFrom('', ...references) },
      {
        weight: 3,
        arbitrary: fc
          .tuple(fc.constantFrom(...opens), tie('pattern'))
          .map(([open, inner]) => `${open.replace('<>', () => `<n${names++}>`)}${inner})`),
      },
    ),
  }));
  return pattern;
}

function textsOf(from: readonly string[]): fc.Arbitrary<string[]> {
  const one = fc.oneof({ weight: 2, arbitrary: fc.constantFrom('a', 'b', 'A') }, fc.constantFrom(...from));
  return fc.array(
    fc.array(one, { maxLength: 6 }).map((each) => each.join('')),
    { minLength: 12, maxLength: 12 },
  );
}

for (const [name, pattern, someTexts] of [
  ['RE2', re2Pattern, texts],
  ['JavaScript', javascriptPattern, textsOfOneUnit],
] as const)
  test(`random patterns of ${name} match what the embedded engine matches`, async (context) => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(pattern, options, someTexts, async (source, flags, candidates) => {
        let written: string;
        let expected: string[];
        try {
          expected = candidates.filter(compileRegex(source, flags));
          written = postgresPattern(source, flags);
        } catch (error) {
          assert.equal((error as { key?: unknown }).key, 'badQuery', String(error));
          return;
        }
        compared += 1;
        assert.deepEqual(await matched(written, candidates), expected, written);
      }),
      { numRuns: 300, interruptAfterTimeLimit: 4_000 },
    );
    context.diagnostic(`${compared} compared`);
    assert.ok(compared > 0);
  });
