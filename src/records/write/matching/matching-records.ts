import { authorize } from '../../../access/index.ts';
import { unavailableSince } from '../../../errors/system-faults.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { allOf, guardedFilter, parseWhere } from '../../../query/index.ts';
import type { Filter } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import { whereShape } from '../../../query/shape.ts';
import { fieldOf, type Schema, type TableSchema } from '../../../schema/model.ts';
import { SortedIds } from '../../../storage/sorted-ids.ts';
import { rowsOf } from '../../../storage/text-values.ts';
import type { RecordContext } from '../../context/context.ts';
import { countRecords, retryOnSchemaChange } from '../../read/find.ts';

/** A parsed `where`, with the schema that it was parsed under. */
interface Parsed {
  readonly schema: Schema;
  readonly table: TableSchema;
  readonly filter: Filter;
}

/** The records that match a `where`, as the caller finds them. */
export class MatchingRecords {
  readonly #context: RecordContext;
  readonly #className: string;
  readonly #where: JsonObject;
  /** `$relativeTime` counts from here in all reads. */
  readonly #now = Date.now();
  #parsed: Parsed | undefined;

  constructor(context: RecordContext, className: string, where: JsonObject) {
    this.#context = context;
    this.#className = className;
    this.#where = where;
  }

  /** Returns the shape of the `where`, without values; empty before the first read. */
  shape(): JsonObject {
    return this.#parsed ? whereShape(this.#parsed.filter) : {};
  }

  /** Returns how many there are. @throws what a query throws (queries.md#where) */
  async count(): Promise<number> {
    const found = await this.#find(() => ({ fields: [], limit: 0, count: true }));
    return found?.count ?? 0;
  }

  /**
   * Returns the ids of all of them, as of one moment, in the order of creation.
   * @throws what a query throws (queries.md#where); unavailable if there is no room for them
   */
  async ids(): Promise<SortedIds> {
    const found = await this.#find((table) => ({ fields: [fieldOf(table, 'objectId')] }));
    try {
      return await SortedIds.of(found?.results ?? '[]');
    } catch (error) {
      // A temporary file cannot be written.
      throw (error as NodeJS.ErrnoException).syscall === undefined ? error : unavailableSince(error);
    }
  }

  /** Returns the versions, by id, of those of these records that match now: `updatedAt` in milliseconds since 1970. @throws as `ids` */
  async versionsOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const found = await this.#find((table) => ({
      fields: [fieldOf(table, 'objectId'), fieldOf(table, 'updatedAt')],
      ids: { kind: 'in', field: fieldOf(table, 'objectId'), values: ids },
      limit: ids.length,
    }));
    const rows = found ? await rowsOf<{ objectId: string; updatedAt: string }>(found) : [];
    return new Map(rows.map(({ objectId, updatedAt }) => [objectId, Date.parse(updatedAt)]));
  }

  /** Runs a query. @returns `null` if there is no such table */
  #find(queryOf: (table: TableSchema) => Pick<Query, 'fields'> & Partial<Query> & { readonly ids?: Filter }) {
    const { store, until } = this.#context;
    return retryOnSchemaChange(store, async (schema) => {
      const parsed = this.#parsedUnder(schema);
      if (!parsed) {
        // Refuses what a query of a missing table refuses.
        await countRecords(this.#context, this.#className, this.#where);
        return null;
      }
      const { table, filter } = parsed;
      const { ids, ...query } = queryOf(table);
      const whole = { includes: [], order: [], skip: 0, limit: Number.POSITIVE_INFINITY, count: false, withScore: false };
      return store.reader.find(
        { table, filter: ids ? allOf([ids, filter]) : filter, ...whole, ...query },
        ids ? 'values' : undefined,
        until,
      );
    });
  }

  #parsedUnder(schema: Schema): Parsed | null {
    if (this.#parsed?.schema === schema) return this.#parsed;
    const { principal, patterns } = this.#context;
    const table = schema.tables.get(this.#className);
    if (!table) return null;
    const grant = authorize(principal, 'find', table, schema);
    const filter = guardedFilter(grant, parseWhere(this.#where, grant, { schema, principal, patterns, now: this.#now }));
    this.#parsed = { schema, table, filter };
    return this.#parsed;
  }
}
