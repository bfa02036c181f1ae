import type { Grant } from '../../access/index.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Filter } from './filter.ts';

/**
 * Options of reads. They are read one at a time, in the order in which malformed ones are refused: an implementation may parse
 * them when they are read (`query/parameters.ts`), other callers give plain objects.
 */
interface Options {
  /** Refuses options that do not exist. Called when the caller is known to have the right to read, before the others are read. */
  refuseUnknown?(): void;
}

/** What to read of each record (SPEC "Read one"). Names may be dotted; none stands in a list twice. */
export interface ReadOptions extends Options {
  /** All fields where it is left out, or empty. `$score` is the relevance of `$text`. */
  readonly keys?: readonly string[] | undefined;
  readonly excludeKeys?: readonly string[] | undefined;
  /** Pointers and Arrays of Pointers whose records come along. */
  readonly include?: readonly string[] | undefined;
  /** All of them. */
  readonly includeAll?: boolean | undefined;
}

/** A query (SPEC "Query"). */
export interface FindOptions extends ReadOptions {
  readonly where?: JsonObject | undefined;
  /** A condition of the service's own beside `where`. */
  readonly within?: ((grant: Grant) => Filter) | undefined;
  /** Names, `-` before one for descending, `$score` for the relevance of `$text`. */
  readonly order?: readonly string[] | undefined;
  /** Records at most; `limits.defaultLimit` where it is left out. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  /** Only each so many-th record of the order. No client's option. */
  readonly stride?: number | undefined;
  /** Whether records come with nothing but their objectId. No client's option. */
  readonly idsAlone?: boolean | undefined;
  /** Whether the number of records is asked for. */
  readonly count?: boolean | undefined;
  /** Whether nothing else is, so that the right to count is enough. Read before the right is known. Left out: as `limit` and `count` say. */
  readonly countsAlone?: boolean | undefined;
  /** A field of the table: a Relation leads the query to the table of its members. Read before the right is known. */
  readonly redirectClassNameForKey?: string | undefined;
}

/** An aggregation (CONTRACT "Records": GET classes-aggregate). */
export interface AggregateOptions extends Options {
  /** Which records; it goes before the stages. */
  readonly where?: JsonObject | undefined;
  /** `{"$name": spec}` each; without any the answer is the records. */
  readonly pipeline?: readonly JsonValue[] | undefined;
}
