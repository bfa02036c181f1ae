import { fail } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Regex } from '../model/filter.ts';
import type { PatternBudget } from './budget.ts';
import { checkRegex } from './compile.ts';

/**
 * Checks `$regex` and `$options` (a subset of `imsx`). Reference: queries.md#regular-expressions.
 * @param budget for the patterns of the request
 * @throws badConstraint (107) for a pattern that is no string; badQuery (102) for bad options, a pattern that is too long, one
 * that cannot be read, and beyond the budget
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

const special = new Set('\\^$.|?*+()[]{}');

/**
 * Returns the plain text that a pattern stands for: clients send "starts with", "ends with" and "contains" as `^\Qabc\E`.
 * @returns `undefined` for a real pattern, or if an option changes what plain text matches
 */
export function literalOf(pattern: string, options: string): Regex['literal'] {
  if (options.includes('i') || options.includes('x')) return undefined;
  let at = 0;
  const fromStart = pattern.startsWith('^') || pattern.startsWith('\\A');
  if (fromStart) at = pattern[0] === '^' ? 1 : 2;
  let text = '';
  let toEnd = false;
  while (at < pattern.length) {
    const char = pattern[at] as string;
    const next = pattern[at + 1];
    if (char === '\\' && next === 'Q') {
      const close = pattern.indexOf('\\E', at + 2);
      text += pattern.slice(at + 2, close < 0 ? undefined : close);
      at = close < 0 ? pattern.length : close + 2;
    } else if ((char === '$' && next === undefined) || (char === '\\' && next === 'z' && at + 2 === pattern.length)) {
      toEnd = true;
      at = pattern.length;
    } else if (char === '\\') {
      if (next === undefined || /[A-Za-z0-9]/.test(next) || next > '\x7f') return undefined;
      text += next;
      at += 2;
    } else if (special.has(char)) {
      return undefined;
    } else {
      text += char;
      at += 1;
    }
    const repeat = pattern[at];
    if (repeat === '?' || repeat === '*' || repeat === '+' || repeat === '{') return undefined;
  }
  if (text === '' || (options.includes('m') && (fromStart || toEnd))) return undefined;
  return { text, at: fromStart ? (toEnd ? 'whole' : 'start') : toEnd ? 'end' : 'anywhere' };
}
