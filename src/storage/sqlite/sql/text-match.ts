import type { Regex } from '../../../query/model/filter.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { prefixUpperBound } from '../../sql/prefix-upper-bound.ts';

/**
 * Writes whether a text expression without parameters matches. Plain text needs no regex scan, and a prefix becomes a range that an index answers.
 */
export function writeTextMatch(out: SqlOut, expression: string, regex: Regex): void {
  const { literal } = regex;
  if (!literal) {
    out.add('rds_regex(').bind(`${regex.options}/${regex.pattern}`).add(`, ${expression})`);
  } else if (literal.at === 'whole') {
    out.add(`${expression} = `).bind(literal.text);
  } else if (literal.text === '') {
    out.add(`${expression} IS NOT NULL`);
  } else if (literal.at === 'anywhere') {
    out.add(`instr(${expression}, `).bind(literal.text).add(') > 0');
  } else if (literal.at === 'end') {
    // SQLite counts code points.
    out
      .add(`substr(${expression}, `)
      .bind(-[...literal.text].length)
      .add(') = ')
      .bind(literal.text);
  } else {
    writePrefix(out, expression, literal.text);
  }
}

function writePrefix(out: SqlOut, expression: string, prefix: string): void {
  const end = prefixUpperBound(prefix);
  out.add(`(${expression} >= `).bind(prefix);
  if (end !== undefined) out.add(` AND ${expression} < `).bind(end);
  out.add(')');
}
