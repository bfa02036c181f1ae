import { fail } from '../../../errors/fail.ts';
import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query, Selection } from '../../../query/selection.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { rowWriter } from '../../../values/encode.ts';
import type { StoredValue } from '../../../values/type.ts';
import { type FindResult, type JsonText, type Reader, SchemaChanged } from '../../port.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import type { AggregateDialect } from '../../sql/aggregate/dialect.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { type TargetSource, writeRecords } from '../../sql/reads/expand.ts';
import { type ByIdsJob, includeResolver, type ReadJob } from '../../sql/reads/job.ts';
import { compileByIds, compileCount, compileGet, compileList } from '../../sql/select.ts';
import { type RowContext, recordText } from '../../sql/shape.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Database, Row } from '../connection/database.ts';
import { isStale } from '../connection/errors.ts';
import { jsonArray } from './answer.ts';
import { shownError } from './errors.ts';
import { joinedJob } from './join.ts';
import { isFew, isShort, WHOLE } from './lane.ts';

/** Rows of a page: as fast as larger ones, and the first one comes early. */
const PAGE = 200;
/** Ids that are looked up by one statement on a connection that others share. */
const IDS = 1_000;
/** Values that a statement can be bound to. */
const MOST_PARAMS = 65_535;
/** What the reader of a system stands on. */
export interface ReaderSettings extends RowContext {
  readonly database: Database;
  readonly dialect: Dialect;
  readonly aggregate: AggregateDialect;
  readonly schemaName: string;
  /** Counts the changes of the schema as it is known. */
  readonly schemaVersion: () => number;
  /** Has the store read its schema anew. */
  readonly stale: () => Promise<void>;
}

/** Reads of one system. PostgreSQL runs them all; what is short for certain shares a connection, all else has one of its own. */
export class PostgresReader implements Reader {
  readonly #database: Database;
  readonly #dialect: Dialect;
  readonly #aggregate: AggregateDialect;
  readonly #system: string;
  readonly #schemaVersion: () => number;
  readonly #stale: () => Promise<void>;
  readonly #context: RowContext;
  readonly #gets = new WeakMap<Selection, ByIdsJob>();

  constructor({ database, dialect, aggregate, schemaName, schemaVersion, stale, addresses }: ReaderSettings) {
    this.#database = database;
    this.#dialect = dialect;
    this.#aggregate = aggregate;
    this.#system = schemaName;
    this.#schemaVersion = schemaVersion;
    this.#stale = stale;
    this.#context = { addresses };
  }

  async get(selection: Selection, objectId: string): Promise<string | null> {
    let job = this.#gets.get(selection);
    if (!job) {
      const statement = compileGet(selection, this.#dialect);
      job = { ...joinedJob(selection, statement, this.#dialect, this.#context), idsAt: statement.idsAt };
      this.#gets.set(selection, job);
    }
    const { text, params, idsAt } = job;
    const plannedUnder = this.#schemaVersion();
    try {
      const rows = await this.#database.short({ text, params: params.with(idsAt, objectId) }, this.#system);
      return (await this.#written(selection, job, rows))[0] ?? null;
    } catch (error) {
      throw await this.#reported(error, plannedUnder);
    }
  }

  async find(query: Query): Promise<FindResult> {
    const list = query.limit === 0 ? null : this.#listJob(query);
    const count = query.count ? compileCount(query, this.#dialect, false) : null;
    const short = isShort(query);
    const plannedUnder = this.#schemaVersion();
    try {
      if (!list) return { results: '[]', ...(await this.#counted(count, short)) };
      if (query.limit <= WHOLE) {
        // One round trip for both, each on a connection: together they take no longer than the longer one.
        const [rows, counted] = await Promise.all([this.#rows(list, short), this.#counted(count, short)]);
        return { results: `[${(await this.#written(query, list, rows)).join(',')}]`, ...counted };
      }
      // One after the other: who holds a connection must not wait for a second one.
      const counted = await this.#counted(count, short);
      const target = this.#targets(query);
      return { results: await this.#streamed(list, (rows) => writeRecords(target, list, rows)), ...counted };
    } catch (error) {
      throw await this.#reported(error, plannedUnder);
    }
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    const statement = compileAggregation(aggregation, this.#dialect, this.#aggregate, this.#context);
    const write = rowWriter({ columns: statement.columns });
    const plannedUnder = this.#schemaVersion();
    try {
      if (!isFew(aggregation.stages)) return await this.#streamed(statement, async (rows) => rows.map((row) => write(row)));
      const rows = await this.#rows(statement, false);
      return `[${rows.map((row) => write(row)).join(',')}]`;
    } catch (error) {
      throw await this.#reported(error, plannedUnder);
    }
  }

  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string {
    return recordText(table, fields, values, this.#context);
  }

  #listJob(query: Query): ReadJob {
    // Rows that are joined keep their order as long as what they are joined to has a limit; without one PostgreSQL may work in parallel.
    const limit = query.includes.length > 0 ? Math.min(query.limit, Number.MAX_SAFE_INTEGER) : query.limit;
    return joinedJob(query, compileList({ ...query, limit }, this.#dialect, false), this.#dialect, this.#context);
  }

  async #counted(count: Statement | null, short: boolean): Promise<{ count?: number }> {
    if (!count) return {};
    const [row] = await this.#rows(count, short);
    return { count: row?.[0] as number };
  }

  async #rows({ text, params }: Statement, short: boolean): Promise<Row[]> {
    bindable(params);
    const statement = { text, params };
    return short ? this.#database.short(statement, this.#system) : this.#database.long(statement, this.#system);
  }

  #streamed({ text, params }: Statement, write: (rows: Row[]) => Promise<string[]>): Promise<JsonText> {
    bindable(params);
    const pages = this.#database.pages({ text, params }, this.#system, PAGE);
    return jsonArray(written(pages, write));
  }

  #written(selection: Selection, job: ReadJob, rows: Row[]): Promise<string[]> | string[] {
    if (job.includes.length > 0 || job.joins) return writeRecords(this.#targets(selection), job, rows);
    const write = rowWriter(job.shape);
    return rows.map((row) => write(row));
  }

  /** Where includes that are not joined are read. */
  #targets(selection: Selection): TargetSource {
    const dialect = this.#dialect;
    return {
      resolve: includeResolver(selection, (target) => {
        const statement = compileByIds(target, dialect);
        return { ...joinedJob(target, statement, dialect, this.#context, true), idsAt: statement.idsAt };
      }),
      arrayText: Number.POSITIVE_INFINITY,
      mostIds: IDS,
      list: dialect.list,
      all: (statement) => this.#database.short(statement, this.#system),
      each: allAtOnce,
    };
  }

  /**
   * The error as callers get it. A statement that was made for another schema is to be planned anew; one that was made for the schema as
   * it still is has a fault.
   */
  async #reported(error: unknown, plannedUnder: number): Promise<unknown> {
    if (!isStale(error)) return shownError(error);
    await this.#stale();
    return this.#schemaVersion() === plannedUnder ? error : new SchemaChanged();
  }
}

function bindable(params: readonly unknown[]): void {
  if (params.length > MOST_PARAMS) fail('badQuery', 'the query is too large');
}

async function* written(pages: AsyncGenerator<Row[]>, write: (rows: Row[]) => Promise<string[]>): AsyncGenerator<string> {
  for await (const rows of pages) if (rows.length > 0) yield (await write(rows)).join(',');
}

/** Waits for all of them, so that nothing is under way any more when one has failed. */
async function allAtOnce<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const done = await Promise.allSettled(items.map(work));
  return done.map((each) => {
    if (each.status === 'rejected') throw each.reason;
    return each.value;
  });
}
