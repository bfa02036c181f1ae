import { fail } from '../../errors/fail.ts';
import { limits } from '../../kernel/limits.ts';

/** A budget for the cost of all patterns of a request. A repeated pattern costs nothing more. Reference: queries.md#regular-expressions. */
export class PatternBudget {
  readonly #known = new Set<string>();
  readonly #within: PatternBudget | undefined;
  #left: number;

  /**
   * @param steps as `estimate` counts them
   * @param within the budget that this one is a part of
   */
  constructor(steps: number = limits.requestRegexSize, within?: PatternBudget) {
    this.#left = steps;
    this.#within = within;
  }

  /**
   * Spends the cost of a pattern, before it is compiled.
   * @param key the pattern and its options
   * @throws badQuery (102) if not enough is left
   */
  spend(key: string, steps: number): void {
    if (this.#known.has(key)) return;
    if (steps > this.#left) fail('badQuery', 'Invalid regular expression: the patterns are too large together');
    this.#within?.spend(key, steps);
    this.#left -= steps;
    this.#known.add(key);
  }
}

/** The budget that the queries of a request share. */
export interface SharedPatterns {
  /** Created for the first of them. */
  budget?: PatternBudget;
}

export function budgetOf(shared: SharedPatterns): PatternBudget {
  shared.budget ??= new PatternBudget();
  return shared.budget;
}
