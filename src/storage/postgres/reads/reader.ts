import { fail, ServiceError, serviceError } from '../../../errors/fail.ts';
import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query, Selection } from '../../../query/model/selection.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { rowWriter } from '../../../values/rows/encode.ts';
import { rowReader } from '../../../values/rows/row-values.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { type FindResult, type JsonText, type Reader, SchemaChanged } from '../../port.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import type { AggregateDialect } from '../../sql/aggregate/dialect.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { Commas, type TargetSource, writePage, writeShort } from '../../sql/reads/include-expansion.ts';
import {
  Allowance,
  type ByIdsPlan,
  includeResolver,
  LargeTables,
  NotShort,
  type ReadPlan,
  type ResolveInclude,
} from '../../sql/reads/read-plan.ts';
import { type RowContext, recordText } from '../../sql/row-layout.ts';
import { compileByIds, compileCount, compileGet, compileList } from '../../sql/select.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Database, Row } from '../connection/database.ts';
import { isOutOfRange, isSchemaStale, isTooLarge } from '../connection/map-error.ts';
import { joinedPlan } from './include-joins.ts';
import { isFew, isShort, MAX_WHOLE_ROWS } from './read-routing.ts';
import { jsonArray, jsonRecord } from './result-stream.ts';

/** Rows of a page: as fast as larger ones, and the first one comes early. */
const PAGE_ROWS = 200;
/** Ids that are looked up by one statement on a connection that others share. */
const MAX_IDS = 1_000;
/** Bytes of rows that are read at once; larger answers are read and sent page by page. */
const MAX_WHOLE_BYTES = 2 * 1024 * 1024;
/** Characters that an answer may come to then, includes with it. */
const MAX_WHOLE_TEXT = 8 * 1024 * 1024;
/** Includes that are read at the same time. */
const MAX_CONCURRENT_INCLUDES = 10;
/** Values that a statement can be bound to. */
const MAX_PARAMS = 65_535;
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
  /** Notes a fault, and shows it as callers get it. */
  readonly rejection: (error: unknown) => unknown;
}

/** Reads of one system. PostgreSQL runs them all; what is short for certain shares a connection, all else has one of its own. */
export class PostgresReader implements Reader {
  readonly #database: Database;
  readonly #dialect: Dialect;
  readonly #aggregate: AggregateDialect;
  readonly #system: string;
  readonly #schemaVersion: () => number;
  readonly #stale: () => Promise<void>;
  readonly #rejection: (error: unknown) => unknown;
  readonly #context: RowContext;
  readonly #gets = new WeakMap<Selection, ByIdsPlan>();
  readonly #large = new LargeTables();

  constructor({ database, dialect, aggregate, schemaName, schemaVersion, stale, rejection, addresses }: ReaderSettings) {
    this.#database = database;
    this.#dialect = dialect;
    this.#aggregate = aggregate;
    this.#system = schemaName;
    this.#schemaVersion = schemaVersion;
    this.#stale = stale;
    this.#rejection = rejection;
    this.#context = { addresses };
  }

  async get(selection: Selection, objectId: string): Promise<JsonText | null> {
    let job = this.#gets.get(selection);
    if (!job) {
      const statement = compileGet(selection, this.#dialect);
      job = { ...joinedPlan(selection, statement, this.#dialect, this.#context), idsAt: statement.idsAt };
      this.#gets.set(selection, job);
    }
    const params = job.params.with(job.idsAt, objectId);
    const plannedUnder = this.#schemaVersion();
    try {
      const found = await this.#whole(selection, job, true, params);
      if (found !== null) return found === '' ? null : found;
      const record = await jsonRecord(this.#paged({ ...job, params }, this.#targetsOf(selection)));
      return record === '' ? null : record;
    } catch (error) {
      throw await this.#reported(error, plannedUnder);
    }
  }

  async find(query: Query, wantsRows = false, until?: AbortSignal): Promise<FindResult> {
    const list = query.limit === 0 ? null : this.#listJob(query);
    const count = query.count ? compileCount(query, this.#dialect, false) : null;
    const short = isShort(query);
    const plannedUnder = this.#schemaVersion();
    try {
      if (!list) return { results: '[]', ...(await this.#counted(count, short, until)) };
      if (query.limit <= MAX_WHOLE_ROWS) {
        // One round trip for both, each on a connection: together they take no longer than the longer one.
        const [found, counted] = await Promise.all([
          this.#wholeList(query, list, short, wantsRows, until),
          this.#counted(count, short, until),
        ]);
        return { ...(found ?? { results: await jsonArray(this.#paged(list, this.#targetsOf(query))) }), ...counted };
      }
      // One after the other: a read that holds a connection must not wait for a second one.
      const counted = await this.#counted(count, short, until);
      return { results: await jsonArray(this.#paged(list, this.#targetsOf(query))), ...counted };
    } catch (error) {
      throw await this.#reported(error, plannedUnder);
    }
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    const statement = compileAggregation(aggregation, this.#dialect, this.#aggregate, this.#context);
    const write = rowWriter({ columns: statement.columns });
    const plannedUnder = this.#schemaVersion();
    try {
      const rows = isFew(aggregation.stages) ? await this.#rows(statement, false).catch(unlessShort) : null;
      if (rows) return `[${rows.map((row) => write(row)).join(',')}]`;
      const job: ReadPlan = { ...statement, shape: { columns: statement.columns }, includes: [] };
      return await jsonArray(this.#paged(job, async () => null));
    } catch (error) {
      throw await this.#reported(error, plannedUnder);
    }
  }

  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string {
    return recordText(table, fields, values, this.#context);
  }

  #listJob(query: Query): ReadPlan {
    // Rows that are joined keep their order as long as what they are joined to has a limit; without one PostgreSQL may work in parallel.
    const limit = query.includes.length > 0 ? Math.min(query.limit, Number.MAX_SAFE_INTEGER) : query.limit;
    return joinedPlan(query, compileList({ ...query, limit }, this.#dialect, false), this.#dialect, this.#context);
  }

  async #counted(count: Statement | null, short: boolean, until?: AbortSignal): Promise<{ count?: number }> {
    if (!count) return {};
    const [row] = await this.#rows(count, short, until);
    return { count: row?.[0] as number };
  }

  async #rows(statement: Statement, short: boolean, until?: AbortSignal): Promise<Row[]> {
    bindable(statement.params);
    if (short) return this.#database.short(statement, this.#system, MAX_WHOLE_BYTES, until);
    return this.#database.long(statement, this.#system, MAX_WHOLE_BYTES, until);
  }

  async #wholeList(
    query: Query,
    job: ReadPlan,
    short: boolean,
    wantsRows: boolean,
    until?: AbortSignal,
  ): Promise<FindResult | null> {
    if (wantsRows && isPlain(job)) {
      const rows = await this.#wholeRows(query, job, short, (found) => found.map(rowReader(job.shape)), until);
      return rows && { results: '', rows };
    }
    const records = await this.#whole(query, job, short, job.params, until);
    return records === null ? null : { results: `[${records}]` };
  }

  /** The records of a job, comma-separated; `null` as of `#wholeRows`. */
  #whole(selection: Selection, job: ReadPlan, short: boolean, params = job.params, until?: AbortSignal): Promise<string | null> {
    const write = async (rows: readonly Row[]) => {
      if (!isPlain(job)) return writeShort(this.#targets(this.#targetsOf(selection)), job, rows, new Allowance(MAX_WHOLE_TEXT));
      const writeRow = rowWriter(job.shape);
      let records = '';
      for (const row of rows) records += records === '' ? writeRow(row) : `,${writeRow(row)}`;
      return records;
    };
    return this.#wholeRows(selection, { ...job, params }, short, write, until);
  }

  /** What is made of the rows of a job; `null` where they are too large to be read at once, or those of the table were a moment ago. */
  async #wholeRows<Made>(
    { table: { className } }: Selection,
    { text, params }: Statement,
    short: boolean,
    make: (rows: readonly Row[]) => Made | Promise<Made>,
    until?: AbortSignal,
  ): Promise<Made | null> {
    if (this.#large.has(className)) return null;
    try {
      return await make(await this.#rows({ text, params }, short, until));
    } catch (error) {
      unlessShort(error);
      this.#large.note(className);
      return null;
    }
  }

  /** The same piece by piece. */
  async *#paged(job: ReadPlan, resolve: ResolveInclude): AsyncGenerator<string> {
    const target = this.#targets(resolve);
    const commas = new Commas();
    for await (const rows of this.#pages(job)) yield* writePage(target, job, rows, commas);
  }

  #pages({ text, params }: Statement): AsyncGenerator<Row[]> {
    bindable(params);
    return this.#database.pages({ text, params }, this.#system, PAGE_ROWS);
  }

  #targetsOf(selection: Selection): ResolveInclude {
    const dialect = this.#dialect;
    return includeResolver(selection, (target) => {
      const statement = compileByIds(target, dialect);
      return { ...joinedPlan(target, statement, dialect, this.#context, true), idsAt: statement.idsAt };
    });
  }

  /** Where includes that are not joined are read. */
  #targets(resolve: ResolveInclude): TargetSource {
    return {
      resolve,
      arrayText: Number.POSITIVE_INFINITY,
      maxIds: MAX_IDS,
      list: this.#dialect.list,
      all: async (statement, allowance) => {
        const rows = await this.#database.short(statement, this.#system, allowance.left);
        for (const row of rows) allowance.spendRow(row);
        return rows;
      },
      each: inGroups,
    };
  }

  /**
   * The error as callers get it. A statement that was made for another schema is to be planned anew; one that was made for the schema as
   * it still is has a fault, or the store has lost a table.
   */
  async #reported(error: unknown, plannedUnder: number): Promise<unknown> {
    if (!isSchemaStale(error)) return shownError(error);
    await this.#stale();
    return this.#schemaVersion() === plannedUnder ? this.#rejection(error) : new SchemaChanged();
  }
}

/** Whether rows are records by themselves: nothing is put into them. */
const isPlain = ({ includes, joins }: ReadPlan): boolean => includes.length === 0 && !joins;

function bindable(params: readonly unknown[]): void {
  if (params.length > MAX_PARAMS) fail('badQuery', 'the query is too large');
}

/** @returns `null` where rows turned out too large to be read at once */
function unlessShort(error: unknown): null {
  if (error instanceof NotShort) return null;
  throw error;
}

/**
 * Includes of one level, some at a time: their reads share a connection with those of others, which come between. Waits for all of a group, so
 * that nothing is under way any more when one has failed.
 */
async function inGroups<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const all: U[] = [];
  for (let at = 0; at < items.length; at += MAX_CONCURRENT_INCLUDES) {
    const done = await Promise.allSettled(items.slice(at, at + MAX_CONCURRENT_INCLUDES).map(work));
    for (const each of done) {
      if (each.status === 'rejected') throw each.reason;
      all.push(each.value);
    }
  }
  return all;
}

/** An invalid regular expression, or one that needs too much memory. */
const INVALID_REGEX = '2201B';

/** The error of a read as the client gets it; faults of ours stay as they are. */
export function shownError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if ((error as { readonly code?: unknown }).code === INVALID_REGEX)
    return serviceError('badQuery', 'the pattern is too complex');
  if (isTooLarge(error)) return serviceError('badQuery', 'the query is too large');
  if (isOutOfRange(error)) return serviceError('badQuery', 'a number of the query is out of range');
  return error;
}
