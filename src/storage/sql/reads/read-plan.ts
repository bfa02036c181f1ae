import { LRUCache } from 'lru-cache';
import type { Include, Selection } from '../../../query/model/selection.ts';
import type { RowShape } from '../../../values/rows/encode.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { Dialect } from '../dialect.ts';
import { includePositions, type RowContext, rowShape } from '../row-layout.ts';
import { type ByIdStatement, compileByIds } from '../select.ts';
import type { Statement } from '../writer.ts';

/** A compiled read: plain data, so that it runs on the event loop and on a reader thread alike. */
export interface ReadPlan {
  readonly text: string;
  readonly params: readonly StoredValue[];
  readonly shape: RowShape;
  readonly includes: readonly IncludePlan[];
  /** Expanded records that come in the rows themselves, behind the columns of the shape. */
  readonly joins?: readonly JoinedRecord[];
  /** Bytes that a value may have which the read builds, where it is less than usual. */
  readonly maxValueBytes?: number;
}

/** A read of records by id, for an include. */
export interface ByIdsPlan extends ReadPlan, ByIdStatement {}

/** An expansion of one column of a job's rows by further reads. */
export interface IncludePlan {
  /** Which of the selection's includes it is (`includePositions`). */
  readonly index: number;
  readonly position: number;
  /** A Pointer column knows its class; the elements of an Array name theirs. */
  readonly targetClass: string | null;
  /** Reads the records of a Pointer column, where it was compiled before (`compiledAhead`). */
  readonly plan?: ByIdsPlan;
}

/** A record that stands for a Pointer in a row, all null where there is none. */
export interface JoinedRecord {
  /** Which column of the record that holds it the Pointer is. */
  readonly position: number;
  /** Where in the row its columns begin, objectId first, and where they end. */
  readonly from: number;
  readonly to: number;
  readonly shape: RowShape;
  readonly joins: readonly JoinedRecord[];
}

/**
 * Finds the job that reads records of a class met at an include: `path` holds the include's index at each level. `null`: they stay bare
 * Pointers.
 */
export type ResolveInclude = (
  path: readonly number[],
  classes: readonly string[],
  className: string,
) => Promise<ByIdsPlan | null>;

/** The job of a selection, given its compiled statement. */
export function readPlan(selection: Selection, statement: Statement, context: RowContext, expanded = false): ReadPlan {
  const { text, params } = statement;
  return { text, params, shape: rowShape(selection, context, expanded), includes: includePlans(selection) };
}

/** The expansions that the rows of a selection need. */
export function includePlans(selection: Selection): IncludePlan[] {
  return includePositions(selection).map(({ include, position }, index) => ({
    index,
    position,
    targetClass: 'targetOf' in include ? null : (include.field.targetClass ?? ''),
  }));
}

/** The job that reads records of a selection by their ids. */
export function byIdsPlan(selection: Selection, dialect: Dialect, context: RowContext): ByIdsPlan {
  const statement = compileByIds(selection, dialect);
  return { ...readPlan(selection, statement, context, true), idsAt: statement.idsAt };
}

/**
 * A `ResolveInclude` over a selection, whose include targets have asked the authoriser.
 * @param jobOf compiles the read of an include's records by their ids
 */
export function includeResolver(root: Selection, jobOf: (target: Selection) => ByIdsPlan): ResolveInclude {
  const jobs = new Map<Selection, ByIdsPlan>();
  return async (path, classes, className) => {
    let selection: Selection | null = root;
    for (let level = 0; level < path.length; level++) {
      const include: Include | undefined = includePositions(selection)[path[level] ?? -1]?.include;
      selection = include ? targetAt(include, classes[level] ?? className) : null;
      if (!selection) return null;
    }
    let job = jobs.get(selection);
    if (!job) {
      job = jobOf(selection);
      jobs.set(selection, job);
    }
    return job;
  };
}

/** Statements, and columns of all of them, that are compiled before it is known whether they are needed: more would keep the event loop busy. */
const MAX_AHEAD = 50;
const MAX_COLUMNS_AHEAD = 2_000;

/**
 * A job with the reads of its Pointers' records in it, of every level, so that a thread asks for those of Arrays alone.
 * @param selection of the job
 * @param jobOf as of `includeResolver`
 */
export function compiledAhead<Job extends ReadPlan>(
  job: Job,
  selection: Selection,
  jobOf: (target: Selection) => ByIdsPlan,
): Job {
  const jobs = new Map<Selection, ByIdsPlan>();
  let columns = 0;
  const ahead = <Each extends ReadPlan>(each: Each, of: Selection): Each => {
    if (each.includes.length === 0) return each;
    const positions = includePositions(of);
    const includes = each.includes.flatMap((include): IncludePlan[] => {
      const { include: asked } = positions[include.index] as (typeof positions)[number];
      if ('targetOf' in asked) return [include];
      const { target } = asked;
      // The Pointers stay bare.
      if (!target) return [];
      let compiled = jobs.get(target);
      if (!compiled) {
        if (jobs.size >= MAX_AHEAD || columns + target.fields.length > MAX_COLUMNS_AHEAD) return [include];
        columns += target.fields.length;
        compiled = ahead(jobOf(target), target);
        jobs.set(target, compiled);
      }
      return [{ ...include, plan: compiled }];
    });
    return { ...each, includes };
  };
  return ahead(job, selection);
}

/** How to read records of a class met at an include. */
export function targetAt(include: Include, className: string): Selection | null {
  if ('targetOf' in include) return include.targetOf(className);
  return include.field.targetClass === className ? include.target : null;
}

/** How long a table counts as one of large records, in milliseconds: what is read at once for nothing is read again. */
const REMEMBERED_MS = 10_000;

/** Tables whose records turned out too large lately to be read at once. */
export class LargeTables {
  readonly #seen = new LRUCache<string, true>({ max: 1_000, ttl: REMEMBERED_MS });

  note(className: string): void {
    this.#seen.set(className, true);
  }

  has(className: string): boolean {
    return this.#seen.size > 0 && this.#seen.has(className);
  }
}

/** Values of a row, in the order of its columns. */
export type Row = readonly unknown[];

/** A read that has to be short, or a page that has to fit into memory, turned out to be larger. */
export class NotShort extends Error {}

/** What a row costs beside its texts: thousands of short ones take their time too. */
const ROW_COST = 512;

/** Characters that a read may still bring. One for all parts of a page, so that it bounds their sum. */
export class Allowance {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  get left(): number {
    return this.#left;
  }

  /** @throws NotShort where there are more */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new NotShort();
  }

  /** Spends a row. @throws NotShort where there are more */
  spendRow(row: Row): void {
    this.spend(ROW_COST + textOf(row));
  }
}

/** Characters of a row's texts. */
export function textOf(row: Row): number {
  let text = 0;
  for (const value of row) if (typeof value === 'string') text += value.length;
  return text;
}
