import { LRUCache } from 'lru-cache';
import type { Include, Selection } from '../../../query/model/selection.ts';
import type { RowShape } from '../../../values/rows/encode.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Dialect } from '../dialect.ts';
import { includePositions, type RowContext, rowShape } from '../row-layout.ts';
import { type ByIdStatement, compileByIds } from '../select.ts';
import type { Statement } from '../sql-writer.ts';

/** A compiled read: plain data, so that it can run on the event loop or on a reader thread. */
export interface ReadPlan {
  readonly text: string;
  readonly params: readonly StoredValue[];
  readonly shape: RowShape;
  readonly includes: readonly IncludePlan[];
  /** Expanded records in the rows themselves, after the columns of the shape. */
  readonly joins?: readonly JoinedRecord[];
  /** Maximum bytes of a value that the read builds, if lower than usual. */
  readonly maxValueBytes?: number;
}

/** A read of records by id, for an include. */
export interface ByIdsPlan extends ReadPlan, ByIdStatement {}

/** An expansion of one column of a plan's rows by further reads. */
export interface IncludePlan {
  /** Index among the selection's includes (`includePositions`). */
  readonly index: number;
  readonly position: number;
  /** Class of a Pointer column; `null` for an Array, whose elements name their classes. */
  readonly targetClass: string | null;
  /** Reads the records of a Pointer column, if it was compiled in advance (`compiledAhead`). */
  readonly plan?: ByIdsPlan;
}

/** A record in a row, in place of a Pointer; all columns are null if it does not exist. */
export interface JoinedRecord {
  /** Position of the Pointer among the columns of the record that has it. */
  readonly position: number;
  /** Range of its columns in the row, objectId first. */
  readonly from: number;
  readonly to: number;
  readonly shape: RowShape;
  readonly joins: readonly JoinedRecord[];
}

/**
 * Returns the plan that reads records of a class found at an include; `path` holds the include's index at each level. `null`: they stay bare
 * Pointers.
 */
export type ResolveInclude = (
  path: readonly number[],
  classes: readonly string[],
  className: string,
) => Promise<ByIdsPlan | null>;

/** Returns the plan of a selection, given its compiled statement. */
export function readPlan(selection: Selection, statement: Statement, context: RowContext, expanded = false): ReadPlan {
  const { text, params } = statement;
  return { text, params, shape: rowShape(selection, context, expanded), includes: includePlans(selection) };
}

/** Returns the expansions that the rows of a selection need. */
export function includePlans(selection: Selection): IncludePlan[] {
  return includePositions(selection).map(({ include, position }, index) => ({
    index,
    position,
    targetClass: 'targetOf' in include ? null : (include.field.targetClass ?? ''),
  }));
}

/** Returns the plan that reads records of a selection by their ids. */
export function byIdsPlan(selection: Selection, dialect: Dialect, context: RowContext): ByIdsPlan {
  const statement = compileByIds(selection, dialect);
  return { ...readPlan(selection, statement, context, true), idsAt: statement.idsAt };
}

/**
 * Returns a `ResolveInclude` for a selection, whose include targets are already authorised.
 * @param planOf compiles the read of an include's records by their ids
 */
export function includeResolver(root: Selection, planOf: (target: Selection) => ByIdsPlan): ResolveInclude {
  const plans = new Map<Selection, ByIdsPlan>();
  return async (path, classes, className) => {
    let selection: Selection | null = root;
    for (let level = 0; level < path.length; level++) {
      const include: Include | undefined = includePositions(selection)[path[level] ?? -1]?.include;
      selection = include ? targetAt(include, classes[level] ?? className) : null;
      if (!selection) return null;
    }
    let plan = plans.get(selection);
    if (!plan) {
      plan = planOf(selection);
      plans.set(selection, plan);
    }
    return plan;
  };
}

/** Limits of statements, and of their columns, that are compiled before it is known whether they are needed: more would block the event loop. */
const MAX_PRECOMPILED = 50;
const MAX_PRECOMPILED_COLUMNS = 2_000;

/**
 * Adds to a plan the reads of its Pointers' records, at every level, so that a reader thread has to request only those of Arrays.
 * @param selection of the plan
 * @param planOf as in `includeResolver`
 */
export function compiledAhead<Plan extends ReadPlan>(
  plan: Plan,
  selection: Selection,
  planOf: (target: Selection) => ByIdsPlan,
): Plan {
  const plans = new Map<Selection, ByIdsPlan>();
  let columns = 0;
  const ahead = <Each extends ReadPlan>(each: Each, of: Selection): Each => {
    if (each.includes.length === 0) return each;
    const positions = includePositions(of);
    const includes = each.includes.flatMap((include): IncludePlan[] => {
      const { include: requested } = positions[include.index] as (typeof positions)[number];
      if ('targetOf' in requested) return [include];
      const { target } = requested;
      // The Pointers stay bare.
      if (!target) return [];
      let compiled = plans.get(target);
      if (!compiled) {
        if (plans.size >= MAX_PRECOMPILED || columns + target.fields.length > MAX_PRECOMPILED_COLUMNS) return [include];
        columns += target.fields.length;
        compiled = ahead(planOf(target), target);
        plans.set(target, compiled);
      }
      return [{ ...include, plan: compiled }];
    });
    return { ...each, includes };
  };
  return ahead(plan, selection);
}

/** Returns the selection for records of a class found at an include; `null` if they stay bare. */
export function targetAt(include: Include, className: string): Selection | null {
  if ('targetOf' in include) return include.targetOf(className);
  return include.field.targetClass === className ? include.target : null;
}

/** Time for which a table counts as one with large records. Such a read starts on the event loop in vain and is repeated, so it should be rare. */
const LARGE_TABLE_TTL_MS = 10_000;

/** Tables whose records were recently too large for a read on the event loop. */
export class LargeTables {
  readonly #seen = new LRUCache<string, true>({ max: 1_000, ttl: LARGE_TABLE_TTL_MS });

  note(className: string): void {
    this.#seen.set(className, true);
  }

  has(className: string): boolean {
    return this.#seen.size > 0 && this.#seen.has(className);
  }
}

/** Values of a row, in the order of its columns. */
export type Row = readonly unknown[];

/** A read that must be short, or a page that must fit into memory, exceeded its allowance. */
export class TooLong extends Error {}

/** Cost of a row besides its texts, in characters: thousands of short rows take time too. */
const ROW_COST = 512;

/** Characters that a read may still produce. All parts of a page share one, so it limits their sum. */
export class Allowance {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  get left(): number {
    return this.#left;
  }

  /** @throws TooLong if the allowance is exceeded */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new TooLong();
  }

  /** Deducts a row. @throws TooLong if the allowance is exceeded */
  spendRow(row: Row): void {
    this.spend(ROW_COST + textOf(row));
  }
}

/** Returns the characters of a row's texts. */
export function textOf(row: Row): number {
  let text = 0;
  for (const value of row) if (typeof value === 'string') text += value.length;
  return text;
}
