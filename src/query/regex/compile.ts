import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';
import { javascriptSource } from './javascript.ts';
import { type NormalPattern, normalise } from './normalise.ts';
import { expandedSize } from './size.ts';

/** A compiled pattern: whether it occurs in a text. */
export type Matcher = (text: string) => boolean;

interface Compiled {
  readonly matches: Matcher;
  readonly linear: boolean;
}

const cache = new LRUCache<string, Compiled>({ max: 200 });
const backtracking = /\(\?<?[=!]|\\[1-9]|\\k</;

/**
 * A matcher for a pattern: linear in the length of the text (RE2), except for lookaround and back references, which RE2 cannot have.
 * @param options sorted subset of `imsx`
 * @throws badQuery (102) for a pattern that cannot be read
 */
export function compileRegex(pattern: string, options: string): Matcher {
  return compiled(pattern, options).matches;
}

/** Whether a pattern runs in linear time. Others may take as long as they like, and belong where a time limit can end them. */
export function isLinear(pattern: string, options: string): boolean {
  return compiled(pattern, options).linear;
}

function compiled(pattern: string, options: string): Compiled {
  const key = `${options}/${pattern}`;
  let entry = cache.get(key);
  if (!entry) {
    entry = compile(normalise(pattern, options));
    cache.set(key, entry);
  }
  return entry;
}

function compile(normal: NormalPattern): Compiled {
  if (expandedSize(normal.source) > limits.regexSize) fail('badQuery', 'Invalid regular expression: expression too large');
  try {
    const program = RE2JS.compile(normal.source, re2Flags(normal.flags));
    return { matches: (text) => program.test(text), linear: true };
  } catch (error) {
    if (!backtracking.test(normal.source)) refuse(error);
    return { matches: backtrackingMatcher(normal), linear: false };
  }
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
      // The engine compiles at first use, and only then finds a pattern too large.
      regex.test('');
      return (text) => regex.test(text);
    } catch (error) {
      reason ??= error;
    }
  }
  return refuse(reason);
}

/** Tells the kind of fault only: engines quote the pattern, and clients see no internals. */
function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : '';
  const reason = /^error parsing regexp: ([^:`]{1,60})/.exec(message)?.[1]?.trim();
  fail('badQuery', `Invalid regular expression: ${reason ?? 'it cannot be read'}`);
}
