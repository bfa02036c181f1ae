import { fail } from '../../../errors/fail.ts';
import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query, Selection } from '../../../query/model/selection.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { escapedRowWriter, rowWriter } from '../../../values/rows/encode.ts';
import { rowReader } from '../../../values/rows/row-values.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { type FindResult, type JsonText, type Reader, type RowForm, SchemaChanged } from '../../port.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import type { AggregateDialect } from '../../sql/aggregate/dialect.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { Commas, type TargetSource, writePage, writeShort } from '../../sql/reads/include-expansion.ts';
import {
  Allowance,
  type ByIdsPlan,
  includeResolver,
  LargeTables,
  type ReadPlan,
  type ResolveInclude,
  TooLong,
} from '../../sql/reads/read-plan.ts';
import { type RowContext, recordText } from '../../sql/row-layout.ts';
import { compileByIds, compileCount, compileGet, compileList } from '../../sql/select.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Database, Row } from '../connection/database.ts';
import { isSchemaStale } from '../connection/map-error.ts';
import type { SchemaCache } from '../schema/schema-cache.ts';
import { Counts } from './counts.ts';
import { explainer } from './explain.ts';
import { inBatches } from './in-batches.ts';
import { joinedPlan } from './include-joins.ts';
import { keyReader } from './key-reader.ts';
import { mapQueryError } from './map-error.ts';
import { hasFewRows, isShort, MAX_WHOLE_ROWS } from './read-routing.ts';
import { jsonArray, jsonRecord, type Tally } from './result-stream.ts';

/** Rows of a page. Larger pages are no faster, and delay the first one. */
const PAGE_ROWS = 200;
/** Maximum ids looked up by one statement on a shared connection. */
const MAX_IDS = 1_000;
/** Maximum bytes of rows that are read as a whole; larger answers are read and sent page by page. */
const MAX_WHOLE_BYTES = 2 * 1024 * 1024;
/** Maximum characters of an answer that is read as a whole, including its includes. */
const MAX_WHOLE_TEXT = 8 * 1024 * 1024;
/** Maximum number of parameters of a statement (a 16-bit count in the protocol). */
const MAX_PARAMS = 65_535;
/** Settings and collaborators of a system's reader. */
export interface ReaderSettings extends RowContext {
  readonly database: Database;
  readonly dialect: Dialect;
  readonly aggregate: AggregateDialect;
  readonly schemaName: string;
  /** The schema and its version, as known to this process. */
  readonly schemaCache: Pick<SchemaCache, 'schema' | 'changes'>;
  /** Makes the store reload its schema. */
  readonly reloadSchema: () => Promise<void>;
  /** Records a fault and returns the error for the caller. */
  readonly mapFault: (error: unknown) => unknown;
}

/** Reads of one system. PostgreSQL executes all of them; reads certain to be short share connections, others use one exclusively. */
export class PostgresReader implements Reader {
  readonly findByKey: Reader['findByKey'];
  readonly explain: Reader['explain'];
  readonly countUpTo: Reader['countUpTo'];
  readonly #database: Database;
  readonly #dialect: Dialect;
  readonly #aggregate: AggregateDialect;
  readonly #system: string;
  readonly #schemaCache: ReaderSettings['schemaCache'];
  readonly #reloadSchema: () => Promise<void>;
  readonly #mapFault: (error: unknown) => unknown;
  readonly #context: RowContext;
  readonly #gets = new WeakMap<Selection, ByIdsPlan>();
  readonly #large = new LargeTables();
  readonly #counts: Counts;

  constructor({ database, dialect, aggregate, schemaName, schemaCache, reloadSchema, mapFault, addresses }: ReaderSettings) {
    this.#database = database;
    this.#dialect = dialect;
    this.#aggregate = aggregate;
    this.#system = schemaName;
    this.#schemaCache = schemaCache;
    this.#reloadSchema = reloadSchema;
    this.#mapFault = mapFault;
    this.#context = { addresses };
    this.#counts = new Counts(dialect, (statement, short, until) => this.#rows(statement, short, until));
    const statementOf = (read: Query | Aggregation) => this.#statementOf(read);
    const rows = (statement: Statement) => this.#rows(statement, false);
    const mapError = (error: unknown, plannedUnder: number) => this.#mapError(error, plannedUnder);
    const explained = explainer({ dialect, schemaCache }, { statementOf, rows, mapError });
    this.explain = explained.explain;
    this.countUpTo = explained.countUpTo;
    this.findByKey = keyReader({ database, dialect, schemaName, schemaCache }, mapError);
  }

  async get(selection: Selection, objectId: string): Promise<JsonText | null> {
    let plan = this.#gets.get(selection);
    if (!plan) {
      const statement = compileGet(selection, this.#dialect);
      plan = { ...joinedPlan(selection, statement, this.#dialect, this.#context), idsAt: statement.idsAt };
      this.#gets.set(selection, plan);
    }
    const params = plan.params.with(plan.idsAt, objectId);
    const plannedUnder = this.#schemaCache.changes;
    try {
      const found = await this.#whole(selection, plan, true, params);
      if (found !== null) return found === '' ? null : found;
      const record = await jsonRecord(this.#paged({ ...plan, params }, this.#targetsOf(selection)));
      return record === '' ? null : record;
    } catch (error) {
      throw await this.#mapError(error, plannedUnder);
    }
  }

  async find(query: Query, form?: RowForm, until?: AbortSignal): Promise<FindResult> {
    const list = query.limit === 0 ? null : this.#listPlan(query);
    const short = isShort(query);
    const plannedUnder = this.#schemaCache.changes;
    try {
      if (!list) return { results: '[]', ...(await this.#counts.of(query, short, until)) };
      if (query.limit <= MAX_WHOLE_ROWS) {
        // Run both concurrently, on a connection each.
        const [found, counted] = await Promise.all([
          this.#wholeList(query, list, short, form, until),
          this.#counts.of(query, short, until),
        ]);
        return { ...(found ?? { results: await this.#array(list, this.#targetsOf(query)) }), ...counted };
      }
      // Run sequentially: a read that holds a connection must not wait for a second one.
      const counted = await this.#counts.of(query, short, until);
      return { results: await this.#array(list, this.#targetsOf(query)), ...counted };
    } catch (error) {
      throw await this.#mapError(error, plannedUnder);
    }
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    const statement = compileAggregation(aggregation, this.#dialect, this.#aggregate, this.#context);
    const write = rowWriter({ columns: statement.columns });
    const plannedUnder = this.#schemaCache.changes;
    try {
      const rows = hasFewRows(aggregation.stages) ? await this.#rows(statement, false).catch(nullIfTooLong) : null;
      if (rows) return `[${rows.map((row) => write(row)).join(',')}]`;
      const plan: ReadPlan = { ...statement, shape: { columns: statement.columns }, includes: [] };
      return await this.#array(plan, async () => null);
    } catch (error) {
      throw await this.#mapError(error, plannedUnder);
    }
  }

  #statementOf(read: Query | Aggregation): Statement {
    if ('stages' in read) return compileAggregation(read, this.#dialect, this.#aggregate, this.#context);
    return read.limit === 0 && read.count ? compileCount(read, this.#dialect, false) : this.#listPlan(read);
  }

  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string {
    return recordText(table, fields, values, this.#context);
  }

  #listPlan(query: Query): ReadPlan {
    // A limit makes joined rows keep their order; without one PostgreSQL may use a parallel plan.
    const limit = query.includes.length > 0 ? Math.min(query.limit, Number.MAX_SAFE_INTEGER) : query.limit;
    return joinedPlan(query, compileList({ ...query, limit }, this.#dialect, false), this.#dialect, this.#context);
  }

  async #rows(statement: Statement, short: boolean, until?: AbortSignal): Promise<Row[]> {
    checkParams(statement.params);
    if (short) return this.#database.short(statement, this.#system, MAX_WHOLE_BYTES, until);
    return this.#database.long(statement, this.#system, MAX_WHOLE_BYTES, until);
  }

  async #wholeList(
    query: Query,
    plan: ReadPlan,
    short: boolean,
    form: RowForm | undefined,
    until?: AbortSignal,
  ): Promise<FindResult | null> {
    if (form && isPlain(plan)) {
      const make = (rows: readonly Row[]): FindResult => {
        if (form === 'values') return { results: '', rows: rows.map(rowReader(plan.shape)) };
        const write = escapedRowWriter(plan.shape);
        return { results: '', escaped: rows.map((row) => write(row)) };
      };
      return this.#wholeRows(query, plan, short, make, until);
    }
    const records = await this.#whole(query, plan, short, plan.params, until);
    return records === null ? null : { results: `[${records}]` };
  }

  /** Returns the records of a plan, comma-separated; `null` as in `#wholeRows`. */
  #whole(
    selection: Selection,
    plan: ReadPlan,
    short: boolean,
    params = plan.params,
    until?: AbortSignal,
  ): Promise<string | null> {
    const write = async (rows: readonly Row[]) => {
      if (!isPlain(plan)) return writeShort(this.#targets(this.#targetsOf(selection)), plan, rows, new Allowance(MAX_WHOLE_TEXT));
      const writeRow = rowWriter(plan.shape);
      let records = '';
      for (const row of rows) records += records === '' ? writeRow(row) : `,${writeRow(row)}`;
      return records;
    };
    return this.#wholeRows(selection, { ...plan, params }, short, write, until);
  }

  /**
   * Returns what `make` returns for the rows of a plan; `null` if they are too large to be read as a whole, or those of the same table were a
   * moment ago.
   */
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
      nullIfTooLong(error);
      this.#large.note(className);
      return null;
    }
  }

  #array(plan: ReadPlan, resolve: ResolveInclude): Promise<JsonText> {
    const tally = { records: 0 };
    return jsonArray(this.#paged(plan, resolve, tally), tally);
  }

  /** Yields the records of a plan piece by piece. */
  async *#paged(plan: ReadPlan, resolve: ResolveInclude, tally?: Tally): AsyncGenerator<string> {
    const target = this.#targets(resolve);
    const commas = new Commas();
    for await (const rows of this.#pages(plan)) {
      if (tally) tally.records += rows.length;
      yield* writePage(target, plan, rows, commas);
    }
  }

  #pages({ text, params }: Statement): AsyncGenerator<Row[]> {
    checkParams(params);
    return this.#database.pages({ text, params }, this.#system, PAGE_ROWS);
  }

  #targetsOf(selection: Selection): ResolveInclude {
    const dialect = this.#dialect;
    return includeResolver(selection, (target) => {
      const statement = compileByIds(target, dialect);
      return { ...joinedPlan(target, statement, dialect, this.#context, true), idsAt: statement.idsAt };
    });
  }

  /** Returns how includes that are not joined are read. */
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
      each: inBatches,
    };
  }

  /**
   * Maps an error for the caller. If the statement was planned under another schema, the result is SchemaChanged, and the read is planned again. If
   * the schema is unchanged, it is a fault, or the store has lost a table.
   */
  async #mapError(error: unknown, plannedUnder: number): Promise<unknown> {
    if (!isSchemaStale(error)) return mapQueryError(error);
    await this.#reloadSchema();
    return this.#schemaCache.changes === plannedUnder ? this.#mapFault(error) : new SchemaChanged();
  }
}

/** Whether rows become records without further reads. */
const isPlain = ({ includes, joins }: ReadPlan): boolean => includes.length === 0 && !joins;

function checkParams(params: readonly unknown[]): void {
  if (params.length > MAX_PARAMS) fail('badQuery', 'the query is too large');
}

/** @returns `null` if the rows turned out too large to be read as a whole */
function nullIfTooLong(error: unknown): null {
  if (error instanceof TooLong) return null;
  throw error;
}
