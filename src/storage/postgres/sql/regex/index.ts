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

/** Characters of a pattern as PostgreSQL gets it, and of all that are kept; a class such as `\\p{L}` takes 6,000. */
const maxLength = 500_000;
const cache = new LRUCache<string, string>({
  max: 500,
  maxSize: 10 * maxLength,
  sizeCalculation: (text, key) => text.length + key.length,
});

/**
 * A pattern of ours as one of PostgreSQL, for `text COLLATE "C" ~ pattern`: it matches the texts that `compileRegex` matches.
 * @param options sorted subset of `imsx`
 * @throws badQuery (102) for a pattern that cannot be read, or has a back reference that PostgreSQL cannot follow
 */
export function postgresPattern(pattern: string, options: string): string {
  const key = `${options}/${pattern}`;
  let text = cache.get(key);
  if (text === undefined) {
    const normal = normalise(pattern, options);
    text = isLinear(pattern, options) ? fromRe2(normal) : fromJavascript(normal);
    if (text.length > maxLength) fail('badQuery', 'Invalid regular expression: expression too large');
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
  // PostgreSQL compares a back reference without case only where all of the pattern is so, and then ASCII's letters only.
  if (!normal.flags.includes('i') || /\(\?[a-z]*-[a-z]*i/.test(source)) refuse();
  return `(?i)${text}`;
}

/** The pattern in a spelling that JavaScript reads with the flag `u`. */
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
