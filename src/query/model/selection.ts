import type { RowGuard } from '../../access/index.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import type { Filter, OrderKey } from './filter.ts';

/** What to read of each record of a table, and what to expand. */
export interface Selection {
  readonly table: TableSchema;
  /** In the order they are written; objectId first. */
  readonly fields: readonly Field[];
  /** Object fields of which only some places are asked for (`keys=obj.a.b`): field name to paths. */
  readonly paths?: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Fields that only some of the records show: these. In all others the field is absent. */
  readonly shownIn?: ReadonlyMap<string, RowGuard>;
  /** Which records; the caller's guard included. */
  readonly filter: Filter;
  readonly includes: readonly Include[];
  /** Places that `include` and `keys` reach into, of all levels: each may be a read of its own. Left out where there are none. */
  readonly places?: number;
}

/** A field to expand. Records that the caller may not read (`null`) stay bare Pointers. */
export type Include = PointerInclude | ArrayInclude;

/** A Pointer: its class is known, so is how to read its records. */
export interface PointerInclude {
  readonly field: Field;
  readonly target: Selection | null;
}

/** An Array of Pointers: only its elements tell the classes. */
export interface ArrayInclude {
  readonly field: Field;
  readonly targetOf: (className: string) => Selection | null;
}

/** SPEC "Query": a whole query. */
export interface Query extends Selection {
  readonly order: readonly OrderKey[];
  readonly skip: number;
  /** Records at most; 0 for none (count only). `Infinity` for all. */
  readonly limit: number;
  /** Only each so many-th record of the order: those at the positions `stride - 1`, `2 * stride - 1` and so on. `skip` does not go with it. */
  readonly stride?: number;
  /** Whether the total is asked for. */
  readonly count: boolean;
  /** Whether records tell their class: the client may not know it. */
  readonly withClass?: boolean;
  /** Whether `keys` asked for the relevance of `$text`. */
  readonly withScore: boolean;
}
