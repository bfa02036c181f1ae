import type { JsonValue } from '../../kernel/json.ts';
import type { Regex } from '../model/filter.ts';
import { compileRegex, costOf, isLinear } from '../regex/index.ts';

/** Characters searched for plain text in the time of one step. */
const CHARACTERS_PER_STEP = 8;

/**
 * Returns the cost of matching a text against a pattern, in steps. Infinite for patterns that are not linear: they must run where a time limit
 * can end them.
 * @param length characters of the column, JSON text too
 */
export function matchCost({ pattern, options, literal }: Regex, length: number): number {
  if (literal) return length / CHARACTERS_PER_STEP;
  return isLinear(pattern, options) ? length * costOf(pattern, options) : Number.POSITIVE_INFINITY;
}

/** Whether a text, or a text in an array, matches. */
export function textMatches(value: JsonValue | undefined, regex: Regex): boolean {
  if (typeof value === 'string') return matches(value, regex);
  return Array.isArray(value) && value.some((element) => typeof element === 'string' && matches(element, regex));
}

function matches(value: string, { pattern, options, literal }: Regex): boolean {
  switch (literal?.at) {
    case undefined:
      // Compiled patterns are cached for all filters together, within a bound of bytes.
      return compileRegex(pattern, options)(value);
    case 'start':
      return value.startsWith(literal.text);
    case 'end':
      return value.endsWith(literal.text);
    case 'anywhere':
      return value.includes(literal.text);
    case 'whole':
      return value === literal.text;
  }
}
