import type { RowGuard } from '../../access/index.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import type { Filter, OrderKey } from './filter.ts';

/** What to read of each record of a table, and what to expand. */
export interface Selection {
  readonly table: TableSchema;
  /** In the order in which they are written; objectId first. */
  readonly fields: readonly Field[];
  /** Object fields of which only some places are requested (`keys=obj.a.b`): field name to paths. */
  readonly paths?: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Fields shown in some of the records only, with the guard of those records. In all others the field is absent. */
  readonly visibleIn?: ReadonlyMap<string, RowGuard>;
  /** Which records; the caller's guard included. */
  readonly filter: Filter;
  readonly includes: readonly Include[];
  /** Number of places that `include` and `keys` reach into, at all levels: each may be a read of its own. Left out if there are none. */
  readonly places?: number;
}

/** A field to expand. Records that the caller may not read (`null`) stay bare Pointers. */
export type Include = PointerInclude | ArrayInclude;

/** A Pointer: its class is known, and so is the selection of its records. */
export interface PointerInclude {
  readonly field: Field;
  readonly target: Selection | null;
}

/** An Array of Pointers: the classes are known only from its elements. */
export interface ArrayInclude {
  readonly field: Field;
  readonly targetOf: (className: string) => Selection | null;
}

/** A whole query. Reference: queries.md#parameters. */
export interface Query extends Selection {
  readonly order: readonly OrderKey[];
  readonly skip: number;
  /** Maximum number of records; 0 for none (count only), `Infinity` for all. */
  readonly limit: number;
  /** Returns only every n-th record of the order: those at the positions `stride - 1`, `2 * stride - 1` and so on. Not combined with `skip`. */
  readonly stride?: number;
  /** Whether the total is requested. */
  readonly count: boolean;
  /** Whether records carry their class, since the client may not know it (`redirectClassNameForKey`). */
  readonly withClass?: boolean;
  /** Whether `keys` requested the relevance of `$text`. */
  readonly withScore: boolean;
}
