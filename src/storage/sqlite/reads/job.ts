import type { Include, Selection } from '../../../query/selection.ts';
import type { RowShape } from '../../../values/encode.ts';
import type { StoredValue } from '../../../values/type.ts';
import { type ByIdStatement, compileByIds } from '../../sql/select.ts';
import { includePositions, rowShape } from '../../sql/shape.ts';
import type { Statement } from '../../sql/writer.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';

/** A compiled read: plain data, so that it runs on the event loop and on a reader thread alike. */
export interface ReadJob {
  readonly text: string;
  readonly params: readonly StoredValue[];
  readonly shape: RowShape;
  readonly includes: readonly IncludeJob[];
}

/** A read of records by id, for an include. */
export interface ByIdsJob extends ReadJob, ByIdStatement {}

/** An expansion of one column of a job's rows. */
export interface IncludeJob {
  readonly position: number;
  /** A Pointer column knows its class; the elements of an Array name theirs. */
  readonly targetClass: string | null;
}

/**
 * Finds the job that reads records of a class met at an include: `path` holds the include's index at each level. `null`: they stay bare
 * Pointers.
 */
export type ResolveInclude = (path: readonly number[], classes: readonly string[], className: string) => Promise<ByIdsJob | null>;

/** The job of a selection, given its compiled statement. */
export function readJob(selection: Selection, statement: Statement, expanded = false): ReadJob {
  const includes = includePositions(selection).map(({ include, position }) => ({
    position,
    targetClass: include.field.type === 'Pointer' ? (include.field.targetClass ?? null) : null,
  }));
  return { text: statement.text, params: statement.params, shape: rowShape(selection, expanded), includes };
}

/** A `ResolveInclude` over a selection, whose include targets have asked the authoriser. */
export function includeResolver(root: Selection): ResolveInclude {
  return async (path, classes, className) => {
    let selection: Selection | null = root;
    for (let level = 0; level < path.length; level++) {
      const at: number = path[level] ?? -1;
      const include: Include | undefined = includePositions(selection)[at]?.include;
      selection = include?.target(level < classes.length ? (classes[level] as string) : className) ?? null;
      if (!selection) return null;
    }
    const statement = compileByIds(selection, dialect);
    return { ...readJob(selection, statement, true), idsAt: statement.idsAt };
  };
}
