import type { RE2JS } from 're2js';

/** Bytes that a pattern may remember of its matches; RE2JS takes 8 MB unless told otherwise, and many patterns are kept. */
export const MATCH_BYTES = 256 * 1024;

/** What we use of RE2JS's own parts. The automaton grows as it matches, and begins anew where its memory is used up. */
interface Engine {
  /** Of patterns that need no automaton. */
  readonly onepass: object | null;
  readonly prefixComplete: boolean;
  readonly dfa: { stateBudget: number; memBudget: number };
}

/** Bounds what a pattern remembers. For its first match: before, it has no automaton, and many patterns are checked and never matched. */
export function boundMatchMemory(program: RE2JS): void {
  const engine = program.re2() as unknown as Engine;
  if (engine.onepass !== null || engine.prefixComplete) return;
  engine.dfa.stateBudget = MATCH_BYTES;
  engine.dfa.memBudget = MATCH_BYTES;
}
