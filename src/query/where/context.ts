import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { FieldRef, Filter } from '../filter.ts';
import { budgetOf, type PatternBudget } from '../regex/index.ts';
import type { QueryScope } from '../scope.ts';

/** What a query has brought so far: its `where`, the sub-queries in it, and each `$match` over records. */
export interface Spending {
  terms: number;
  values: number;
  texts: number;
  readonly patterns: PatternBudget;
}

/** Nothing yet. */
export function newSpending({ patterns = {} }: QueryScope): Spending {
  return { terms: 0, values: 0, texts: 0, patterns: budgetOf(patterns) };
}

/** Where in a `where` the parser stands. */
export interface WhereContext {
  readonly grant: Grant;
  readonly scope: QueryScope;
  readonly depth: number;
  /** Shared by all levels. */
  readonly spent: Spending;
  /** Parses a `where` inside this one. Handed down so that operators need not import the parser. */
  readonly parse: (where: JsonObject, context: WhereContext) => Filter;
}

/**
 * An operator on a field.
 * @param ref `null` for a field that does not exist, which is absent everywhere
 * @param siblings the whole constraint, for operators that come in pairs
 */
export type FieldOperator = (ref: FieldRef | null, value: JsonValue, context: WhereContext, siblings: JsonObject) => Filter;

/** The context one level down, of the same table or of a sub-query's. @throws badQuery beyond limits.whereDepth */
export function descend(context: WhereContext, grant: Grant = context.grant): WhereContext {
  if (context.depth >= limits.whereDepth) refuseDepth();
  return { ...context, grant, depth: context.depth + 1 };
}

/** @throws badQuery */
export function refuseDepth(): never {
  fail('badQuery', `where nests deeper than ${limits.whereDepth} levels`);
}

/** Counts constraints. @throws badQuery beyond limits.whereTerms */
export function spend(context: WhereContext, terms: number): void {
  context.spent.terms += terms;
  if (context.spent.terms > limits.whereTerms) fail('badQuery', `where has more than ${limits.whereTerms} constraints`);
}
