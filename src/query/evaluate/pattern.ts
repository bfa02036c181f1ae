import type { JsonValue } from '../../kernel/json.ts';
import type { StoredValue } from '../../values/index.ts';
import type { Regex } from '../filter.ts';
import { compileRegex, isLinear } from '../regex/index.ts';
import { normalise } from '../regex/normalise.ts';
import { expandedSize } from '../regex/size.ts';

type Matcher = (text: string) => boolean;
interface Known {
  readonly matches: Matcher;
  /** Texts longer than this may take longer than the event loop can spare. */
  readonly longest: number;
}

/** Steps of a pattern times characters of a text: some 20 ms at worst. */
const MOST_STEPS = 2_000_000;
const patterns = new WeakMap<Regex, Known>();

/**
 * Whether the answer may take long, so that it belongs where a time limit can end it: patterns that are not linear, and long texts.
 * @param text the column that is held against the pattern, JSON text too
 */
export function mayTakeLong(regex: Regex, text: StoredValue): boolean {
  return regex.literal === undefined && typeof text === 'string' && text.length > knownOf(regex).longest;
}

/** Whether a text matches, or a text in an array. */
export function textMatches(value: JsonValue | undefined, regex: Regex): boolean {
  if (typeof value === 'string') return knownOf(regex).matches(value);
  return Array.isArray(value) && value.some((element) => typeof element === 'string' && knownOf(regex).matches(element));
}

function knownOf(regex: Regex): Known {
  let known = patterns.get(regex);
  if (!known) {
    known = regex.literal ? { matches: literalMatcher(regex.literal), longest: Number.POSITIVE_INFINITY } : compiled(regex);
    patterns.set(regex, known);
  }
  return known;
}

function compiled({ pattern, options }: Regex): Known {
  const longest = isLinear(pattern, options) ? MOST_STEPS / Math.max(1, expandedSize(normalise(pattern, options).source)) : -1;
  return { matches: compileRegex(pattern, options), longest };
}

function literalMatcher({ text, at }: NonNullable<Regex['literal']>): Matcher {
  switch (at) {
    case 'start':
      return (value) => value.startsWith(text);
    case 'end':
      return (value) => value.endsWith(text);
    case 'anywhere':
      return (value) => value.includes(text);
    case 'whole':
      return (value) => value === text;
  }
}
