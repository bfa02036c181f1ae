import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import type { PatternBudget } from './budget.ts';
import { type Estimate, estimate } from './cost.ts';
import { javascriptSource } from './javascript.ts';
import { type NormalPattern, normalise } from './normalise.ts';

/** A compiled pattern: returns whether it occurs in a text. */
export type Matcher = (text: string) => boolean;

interface Compiled {
  readonly matches: Matcher;
  readonly linear: boolean;
  readonly cost: number;
}

/** Bytes of compiled patterns cached per thread: some hundred patterns, including what their matches may remember. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** Approximate bytes of a step of a compiled pattern. */
const STEP_BYTES = 200;

const cache = new LRUCache<string, Compiled>({
  maxSize: CACHE_BYTES,
  sizeCalculation: ({ cost }, key) => 2 * key.length + STEP_BYTES * cost + MATCH_BYTES,
});

/**
 * Compiles a pattern: linear in the length of the text (RE2), except for lookaround and back references, which RE2 does not support.
 * Reference: queries.md#regular-expressions.
 * @param options sorted subset of `imsx`
 * @throws badQuery (102) for a pattern that cannot be read
 */
export function compileRegex(pattern: string, options: string): Matcher {
  return compiled(pattern, options).matches;
}

/** Whether a pattern runs in linear time. Others have no bound and must run where a time limit can end them. */
export function isLinear(pattern: string, options: string): boolean {
  return compiled(pattern, options).linear;
}

/** Returns the cost of a pattern (`Estimate`). */
export function costOf(pattern: string, options: string): number {
  return compiled(pattern, options).cost;
}

/**
 * Checks that a pattern can be read and that the budget allows it.
 * @throws badQuery (102)
 */
export function checkRegex(pattern: string, options: string, budget: PatternBudget): void {
  compiled(pattern, options, budget);
}

function compiled(pattern: string, options: string, budget?: PatternBudget): Compiled {
  const key = `${options}/${pattern}`;
  let entry = cache.get(key);
  if (entry) {
    budget?.spend(key, entry.cost);
    return entry;
  }
  const normal = normalise(pattern, options);
  const estimated = estimate(normal);
  const { cost } = estimated;
  if (!(cost <= limits.regexSize)) fail('badQuery', 'Invalid regular expression: expression too large');
  budget?.spend(key, cost);
  entry = { ...compile(normal, estimated), cost };
  cache.set(key, entry);
  return entry;
}

function compile(normal: NormalPattern, { backtracking }: Estimate): Pick<Compiled, 'matches' | 'linear'> {
  try {
    return { matches: linearMatcher(RE2JS.compile(normal.source, re2Flags(normal.flags))), linear: true };
  } catch (error) {
    if (!backtracking) refuse(error);
    return { matches: backtrackingMatcher(normal), linear: false };
  }
}

function linearMatcher(program: RE2JS): Matcher {
  let isFirst = true;
  return (text) => {
    if (isFirst) boundMatchMemory(program);
    isFirst = false;
    return program.test(text);
  };
}

function re2Flags(flags: string): number {
  return (
    (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0)
  );
}

function backtrackingMatcher(normal: NormalPattern): Matcher {
  const source = javascriptSource(normal);
  let reason: unknown;
  for (const unicode of ['u', '']) {
    try {
      const regex = new RegExp(source, normal.flags + unicode);
      // V8 compiles at first use and only then rejects a pattern that is too large. The `(?!)` in front makes this first match fail at once.
      new RegExp(`(?!)(?:${source})`, normal.flags + unicode).test('');
      return (text) => regex.test(text);
    } catch (error) {
      reason ??= error;
    }
  }
  return refuse(reason);
}

/** Reports only the kind of the error: engines quote the pattern, and clients see no internals. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  const reason = /^error parsing regexp: ([^:`]{1,60})/.exec(message)?.[1]?.trim();
  fail('badQuery', `Invalid regular expression: ${reason ?? 'it cannot be read'}`);
}

/** Bytes that a pattern may remember of its matches; the default of RE2JS is 8 MB, too much for a cache of many patterns. */
export const MATCH_BYTES = 256 * 1024;

/** The internals of RE2JS used here. The automaton grows as it matches, and restarts when its memory is used up. */
interface Engine {
  /** Set for patterns that need no automaton. */
  readonly onepass: object | null;
  readonly prefixComplete: boolean;
  readonly dfa: { stateBudget: number; memBudget: number };
}

/**
 * Bounds the memory of a pattern's matches. Called at its first match: before, it has no automaton, and many patterns are checked but never
 * matched.
 */
export function boundMatchMemory(program: RE2JS): void {
  const engine = program.re2() as unknown as Engine;
  if (engine.onepass !== null || engine.prefixComplete) return;
  engine.dfa.stateBudget = MATCH_BYTES;
  engine.dfa.memBudget = MATCH_BYTES;
}
