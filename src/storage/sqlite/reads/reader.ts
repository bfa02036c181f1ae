import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query, Selection } from '../../../query/model/selection.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { type RowWriter, rowWriter } from '../../../values/rows/encode.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { type FindResult, type JsonText, type Reader, SchemaChanged } from '../../port.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import {
  byIdsPlan,
  compiledAhead,
  includeResolver,
  LargeTables,
  NotShort,
  type ReadPlan,
  type ResolveInclude,
  readPlan,
  textOf,
} from '../../sql/reads/read-plan.ts';
import { type RowContext, recordText } from '../../sql/row-layout.ts';
import { type ByIdStatement, compileCount, compileGet, compileList } from '../../sql/select.ts';
import type { Connection } from '../connection/connection.ts';
import { MAX_VALUE_BYTES } from '../connection/open-database.ts';
import type { Rows } from '../connection/statements.ts';
import { sqliteAggregate } from '../sql/aggregate.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';
import { readPlain, runPlain, runShort } from './execute-read.ts';
import type { FindPlans } from './protocol.ts';
import { MAX_SHORT_VALUE_BYTES, type ShortList, shortCount, shortList } from './read-routing.ts';
import type { ReaderPool } from './reader-pool.ts';

/** @returns `null` where a read on the event loop turned out too long for it */
function unlessShort(error: unknown): null {
  if (error instanceof NotShort) return null;
  throw error;
}

/** Bytes that a value of an aggregation may have: what its groups collect is in memory together. */
function longestOf({ stages }: Aggregation): number {
  const accumulators = stages.flatMap((stage) => (stage.kind === 'group' ? stage.accumulators : []));
  const collecting = accumulators.filter(({ operator }) => operator === 'push' || operator === 'addToSet');
  return Math.floor(MAX_VALUE_BYTES / Math.max(1, collecting.length));
}

/** Characters of a record that is written out on the event loop. */
const MAX_SHORT_RECORD = 1024 * 1024;
/** Places that includes reach into there: each is a statement of its own, to be compiled. */
const MAX_SHORT_PLACES = 20;

interface CompiledGet {
  readonly statement: ByIdStatement;
  readonly job: ReadPlan;
  readonly write: RowWriter;
}

/** What a reader knows of the schema that its queries are planned under. */
export interface PlannedSchema {
  /** How often something was taken out of it. */
  removals(): number;
  /** Looks whether another process has changed it. */
  notice(): void;
  /** What is to be told of the error that a read on a thread ends with, which begins now. */
  onFailed(): (error: unknown) => void;
}

/** Reads of one system: short ones at once on the event loop, all others on reader threads. */
export class SqliteReader implements Reader {
  readonly #path: string;
  readonly #connection: Connection;
  readonly #pool: ReaderPool;
  readonly #schema: PlannedSchema;
  readonly #context: RowContext;
  readonly #gets = new WeakMap<Selection, CompiledGet>();
  /** Reads of single records. */
  readonly #ofOne: Rows;
  readonly #large = new LargeTables();

  constructor(path: string, connection: Connection, pool: ReaderPool, schema: PlannedSchema, context: RowContext) {
    this.#path = path;
    this.#connection = connection;
    this.#ofOne = connection.shorterThan(MAX_SHORT_VALUE_BYTES);
    this.#pool = pool;
    this.#schema = schema;
    this.#context = context;
  }

  async get(selection: Selection, objectId: string): Promise<JsonText | null> {
    const { statement, job, write } = this.#compiledGet(selection);
    const params = statement.params.with(statement.idsAt, objectId);
    const { className } = selection.table;
    if (this.#large.has(className)) return this.#getOnThread({ ...job, params }, selection);
    if (job.includes.length > 0) return this.#getWithIncludes({ ...job, params }, selection);
    try {
      const row = this.#ofOne.first({ text: statement.text, params });
      if (!row) return null;
      if (textOf(row) <= MAX_SHORT_RECORD) return write(row);
      this.#large.note(className);
    } catch (error) {
      unlessShort(error);
    }
    return this.#getOnThread({ ...job, params }, selection);
  }

  async find(query: Query, wantsRows = false, until?: AbortSignal): Promise<FindResult> {
    const found = await this.#findHere(query, wantsRows).catch(unlessShort);
    if (found) return found;
    const jobs = {
      list: query.limit === 0 ? null : readPlan(query, compileList(query, dialect, true), this.#context),
      count: query.count ? compileCount(query, dialect, true) : null,
    };
    return this.#findOnThread(jobs, query, until);
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    const { text, params, columns } = compileAggregation(aggregation, dialect, sqliteAggregate, this.#context);
    const longest = longestOf(aggregation);
    const job: ReadPlan = { text, params, shape: { columns }, includes: [], maxValueBytes: longest };
    const { results } = await this.#findOnThread({ list: job, count: null }, null);
    return results;
  }

  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string {
    return recordText(table, fields, values, this.#context);
  }

  /** @param selection of the list, for its includes; `null` where it has none */
  async #findOnThread(
    { list, ...jobs }: Omit<FindPlans, 'removals'>,
    selection: Selection | null,
    until?: AbortSignal,
  ): Promise<FindResult> {
    const byIds = (target: Selection) => byIdsPlan(target, dialect, this.#context);
    const ahead = <Job extends ReadPlan>(job: Job, of: Selection) => compiledAhead(job, of, byIds);
    // What is known of includes now is compiled now: each question of the thread costs two messages.
    const whole = { ...jobs, list: list && selection ? ahead(list, selection) : list, removals: this.#schema.removals() };
    const resolve = selection ? includeResolver(selection, (target) => ahead(byIds(target), target)) : async () => null;
    try {
      return await this.#pool.find(this.#path, whole, resolve, this.#schema.onFailed(), until);
    } catch (error) {
      if (error instanceof SchemaChanged) this.#schema.notice();
      throw error;
    }
  }

  #targetsOf(selection: Selection): ResolveInclude {
    return includeResolver(selection, (target) => byIdsPlan(target, dialect, this.#context));
  }

  #compiledGet(selection: Selection): CompiledGet {
    let compiled = this.#gets.get(selection);
    if (!compiled) {
      const statement = compileGet(selection, dialect);
      const job = readPlan(selection, statement, this.#context);
      compiled = { statement, job, write: rowWriter(job.shape) };
      this.#gets.set(selection, compiled);
    }
    return compiled;
  }

  async #getWithIncludes(job: ReadPlan, selection: Selection): Promise<JsonText | null> {
    const found = await this.#expandedHere(this.#ofOne, job, selection);
    if (found === null) return this.#getOnThread(job, selection);
    return found === '' ? null : found;
  }

  /** What is read with its includes on the event loop; `null` where it is not short. */
  async #expandedHere(rows: Rows, job: ReadPlan, selection: Selection): Promise<string | null> {
    if ((selection.places ?? 0) > MAX_SHORT_PLACES) return null;
    try {
      return await runShort(rows, job, this.#targetsOf(selection));
    } catch (error) {
      unlessShort(error);
      this.#large.note(selection.table.className);
      return null;
    }
  }

  async #getOnThread(job: ReadPlan, selection: Selection): Promise<JsonText | null> {
    const { results } = await this.#findOnThread({ list: job, count: null, isOne: true }, selection);
    return results === '' ? null : results;
  }

  /** A query that is short; `null` for all others. @throws NotShort */
  async #findHere(query: Query, wantsRows: boolean): Promise<FindResult | null> {
    if (this.#large.has(query.table.className)) return null;
    const list = query.limit === 0 ? undefined : shortList(this.#connection, query);
    if (list === null) return null;
    const count = query.count ? shortCount(this.#connection, query) : undefined;
    if (count === null) return null;
    const found = list ? await this.#listHere(query, list, wantsRows) : { results: '[]' };
    if (found === null) return null;
    return count === undefined ? found : { ...found, count };
  }

  async #listHere(query: Query, { statement, maxValueBytes }: ShortList, wantsRows: boolean): Promise<FindResult | null> {
    const job = readPlan(query, statement, this.#context);
    const rows = this.#connection.shorterThan(maxValueBytes);
    if (job.includes.length === 0)
      return wantsRows ? { results: '', rows: readPlain(rows, job) } : { results: `[${runPlain(rows, job)}]` };
    const records = await this.#expandedHere(rows, job, query);
    return records === null ? null : { results: `[${records}]` };
  }
}
