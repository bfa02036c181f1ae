import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Regex } from '../filter.ts';
import type { PatternBudget } from './budget.ts';
import { checkRegex } from './compile.ts';
import { literalOf } from './literal.ts';

/**
 * Checks `$regex` and `$options` (a subset of `imsx`).
 * @param budget what the patterns of the request may cost
 * @throws badConstraint (107) for a pattern that is no string; badQuery (102) for bad options, a pattern that is too long, one
 *   that cannot be read, and beyond the budget
 */
export function parseRegex(pattern: JsonValue, options: JsonValue | undefined, budget: PatternBudget): Regex {
  if (typeof pattern !== 'string') fail('badConstraint', 'bad $regex value');
  if (options !== undefined && (typeof options !== 'string' || !/^[imsx]*$/.test(options)))
    fail('badQuery', `Bad $options value for query: ${String(options).slice(0, 50)}`);
  if (pattern.length > limits.regexLength) fail('badQuery', `$regex is longer than ${limits.regexLength} characters`);
  const sorted = [...new Set(options ?? '')].sort().join('');
  const literal = literalOf(pattern, sorted);
  if (literal) return { kind: 'pattern', pattern, options: sorted, literal };
  checkRegex(pattern, sorted, budget);
  return { kind: 'pattern', pattern, options: sorted };
}
