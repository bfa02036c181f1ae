import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { fail } from '../../../errors/fail.ts';

/** Statements that are used again, up to so many characters of text: a prepared one takes some ten times its text. */
const kept = { max: 500, maxSize: 2_000_000, sizeCalculation: (_: unknown, text: string) => text.length };

/** What was made of statements that are used again. */
export class StatementCache<T extends NonNullable<unknown>> {
  readonly #make: (db: DatabaseSync, text: string) => T;
  readonly #made = new LRUCache<string, T>(kept);

  constructor(make: (db: DatabaseSync, text: string) => T) {
    this.#make = make;
  }

  get(text: string): T | undefined {
    return this.#made.get(text);
  }

  /** @throws what the making throws */
  add(db: DatabaseSync, text: string): T {
    const made = this.#make(db, text);
    this.#made.set(text, made);
    return made;
  }

  clear(): void {
    this.#made.clear();
  }
}

/** What SQLite says of statements beyond its limits (https://sqlite.org/limits.html). */
const tooLarge = /^(?:Expression tree is too large|too many SQL variables|parser stack overflow)/;

/** Prepares a statement whose rows come as arrays. @throws badQuery (102) for a statement larger than SQLite takes, as a query of many sub-queries in each other can be */
export function prepare(db: DatabaseSync, text: string): StatementSync {
  let statement: StatementSync;
  try {
    statement = db.prepare(text);
  } catch (error) {
    if (error instanceof Error && tooLarge.test(error.message)) fail('badQuery', 'the query is too large');
    throw error;
  }
  statement.setReturnArrays(true);
  return statement;
}

/** How many comparisons an index answers for a statement that goes through one table in order and sorts nothing; -1 for any other. */
export function constraintsTaken(db: DatabaseSync, text: string): number {
  return constraintsIn(db.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
}

/** Reads SQLite's plan: `SCAN t`, `SEARCH t USING INDEX i (a=? AND b>?)`; a sub-query that only counts rows is a step around it. */
function constraintsIn(plan: readonly Record<string, unknown>[]): number {
  const steps = plan.map((step) => String(step.detail)).filter((detail) => !/^(CO-ROUTINE|SCAN \(subquery)/.test(detail));
  const [step] = steps;
  if (step === undefined || steps.length > 1) return -1;
  return step.startsWith('SCAN') ? 0 : (step.match(/(?:=|[<>])\?/g)?.length ?? 0);
}
