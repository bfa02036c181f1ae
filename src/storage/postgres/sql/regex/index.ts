import { LRUCache } from 'lru-cache';
import { fail } from '../../../../errors/fail.ts';
import { isLinear } from '../../../../query/regex/index.ts';
import { javascriptSource } from '../../../../query/regex/javascript.ts';
import { type NormalPattern, normalise } from '../../../../query/regex/normalise.ts';
import { javascriptSyntax, unicodeSource } from './javascript.ts';
import { parsePattern } from './parse.ts';
import { re2Syntax } from './re2.ts';
import { refuse, resolveReferences } from './references.ts';
import { writePattern } from './write.ts';

/** Maximum characters of a pattern in PostgreSQL's syntax; ten times as many are cached. A class such as `\\p{L}` takes 6,000. */
const MAX_PATTERN_LENGTH = 500_000;
const cache = new LRUCache<string, string>({
  max: 500,
  maxSize: 10 * MAX_PATTERN_LENGTH,
  sizeCalculation: (text, key) => text.length + key.length,
});

/**
 * Translates a pattern to PostgreSQL's syntax, for `text COLLATE "C" ~ pattern`. It matches the same texts as `compileRegex`. Reference:
 * queries.md#regular-expressions.
 * @param options sorted subset of `imsx`
 * @throws badQuery (102) for an invalid pattern, or a back reference that PostgreSQL cannot follow
 */
export function postgresPattern(pattern: string, options: string): string {
  const key = `${options}/${pattern}`;
  let text = cache.get(key);
  if (text === undefined) {
    const normal = normalise(pattern, options);
    text = isLinear(pattern, options) ? fromRe2(normal) : fromJavascript(normal);
    if (text.length > MAX_PATTERN_LENGTH) fail('badQuery', 'Invalid regular expression: expression too large');
    cache.set(key, text);
  }
  return text;
}

function fromRe2({ source, flags }: NormalPattern): string {
  return writePattern(parsePattern(source, flags, re2Syntax), new Map());
}

function fromJavascript(normal: NormalPattern): string {
  const source = strictSource(normal);
  const { tree, numbers, references } = resolveReferences(parsePattern(source, normal.flags, javascriptSyntax));
  const text = writePattern(tree, numbers);
  if (!references.some(({ fold }) => fold)) return text;
  // PostgreSQL ignores case in a back reference only if the whole pattern ignores it, and then only for ASCII letters.
  if (!normal.flags.includes('i') || /\(\?[a-z]*-[a-z]*i/.test(source)) refuse();
  return `(?i)${text}`;
}

/** Returns the pattern in a spelling that JavaScript accepts with the flag `u`. */
function strictSource(normal: NormalPattern): string {
  const source = javascriptSource(normal);
  for (const spelling of [source, unicodeSource(source)]) {
    try {
      new RegExp(spelling, `${normal.flags}u`);
      return spelling;
    } catch {}
  }
  return fail('badQuery', 'Invalid regular expression: it cannot be read');
}
