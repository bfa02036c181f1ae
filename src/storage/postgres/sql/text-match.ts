import type { Regex } from '../../../query/model/filter.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { prefixUpperBound } from '../../sql/prefix-upper-bound.ts';
import { postgresPattern } from './regex/index.ts';

/**
 * Writes whether a text expression matches. A literal pattern needs no regular expression, and a prefix becomes a range that an index can serve.
 * @param expression may be written several times
 * @throws badQuery (102) for a pattern that PostgreSQL cannot express
 */
export function writeTextMatch(out: SqlOut, expression: string, regex: Regex): void {
  out.add(textMatch(out, expression, regex));
}

/** Returns the same as an SQL expression, parenthesised if necessary. */
export function textMatch(out: SqlOut, expression: string, { literal, pattern, options }: Regex): string {
  if (!literal) return `${expression} ~ ${out.parameter(postgresPattern(pattern, options))}::text`;
  if (literal.at === 'whole') return `${expression} = ${out.parameter(literal.text)}::text`;
  if (literal.text === '') return `${expression} IS NOT NULL`;
  switch (literal.at) {
    case 'anywhere':
      return `strpos(${expression}, ${out.parameter(literal.text)}::text) > 0`;
    case 'end':
      // PostgreSQL counts characters by code point.
      return `right(${expression}, ${out.parameter([...literal.text].length)}::integer) = ${out.parameter(literal.text)}::text`;
    case 'start': {
      const end = prefixUpperBound(literal.text);
      const below = end === undefined ? '' : ` AND ${expression} < ${out.parameter(end)}::text`;
      return `(${expression} >= ${out.parameter(literal.text)}::text${below})`;
    }
  }
}
