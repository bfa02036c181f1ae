import type { Grant } from '../../access/index.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Filter } from './filter.ts';

/**
 * Options of reads. They are read one at a time, in the order in which malformed ones are refused: an implementation may parse
 * them when they are read (`query/parameters.ts`), other callers pass plain objects.
 */
interface Options {
  /** Refuses unknown options. Called after the caller's right to read is established and before other options are read. */
  refuseUnknown?(): void;
}

/** What to read of each record (records.md#read). Names may be dotted; each occurs once in a list. */
export interface ReadOptions extends Options {
  /** Left out or empty: all fields. `$score` is the relevance of `$text`. */
  readonly keys?: readonly string[] | undefined;
  readonly excludeKeys?: readonly string[] | undefined;
  /** Whether `createdAt`, `updatedAt` and `ACL` are left out unless `keys`, if there are any, names them. Not an option of clients. */
  readonly keysAlone?: boolean | undefined;
  /** Pointers and Arrays of Pointers to expand. */
  readonly include?: readonly string[] | undefined;
  /** Expands all of them. */
  readonly includeAll?: boolean | undefined;
}

/** A query. Reference: queries.md#parameters. */
export interface FindOptions extends ReadOptions {
  readonly where?: JsonObject | undefined;
  /** A further condition of the service itself, beside `where`. */
  readonly within?: ((grant: Grant) => Filter) | undefined;
  /** Names, `-` before one for descending, `$score` for the relevance of `$text`. */
  readonly order?: readonly string[] | undefined;
  /** Maximum number of records; left out: `limits.defaultLimit`. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  /** Returns only every n-th record of the order. Not an option of clients. */
  readonly stride?: number | undefined;
  /** Whether records consist of their objectId alone. Not an option of clients. */
  readonly idsAlone?: boolean | undefined;
  /** Whether the number of records is requested. */
  readonly count?: boolean | undefined;
  /**
   * Whether only the number is requested, so that the right to count suffices. Read before the right is known. Left out: follows from `limit` and
   * `count`.
   */
  readonly countsAlone?: boolean | undefined;
  /** A Relation of the table; the query is led to the table of its members. Read before the right is known. */
  readonly redirectClassNameForKey?: string | undefined;
}

/** A write of all records that match. Reference: records.md#write-many-records. */
export interface MatchingOptions extends Options {
  readonly where?: JsonObject | undefined;
  /** The number of records that are to match; left out: any. */
  readonly expect?: number | undefined;
  /** Whether nothing is to be written. */
  readonly dryRun?: boolean | undefined;
}

/** An aggregation. Reference: aggregation.md#request. */
export interface AggregateOptions extends Options {
  /** Conditions on the records, applied before the stages. */
  readonly where?: JsonObject | undefined;
  /** Each `{"$name": spec}`; without any the answer is the records. */
  readonly pipeline?: readonly JsonValue[] | undefined;
}
