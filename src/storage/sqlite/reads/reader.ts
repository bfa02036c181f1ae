import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query, Selection } from '../../../query/selection.ts';
import type { Field, TableSchema } from '../../../schema/model.ts';
import { type RowWriter, rowWriter } from '../../../values/encode.ts';
import type { StoredValue } from '../../../values/type.ts';
import { type FindResult, type JsonText, type Reader, SchemaChanged, wholeText } from '../../port.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import { NotShort } from '../../sql/reads/expand.ts';
import { byIdsJob, includeResolver, type ReadJob, type ResolveInclude, readJob } from '../../sql/reads/job.ts';
import { type ByIdStatement, compileCount, compileGet, compileList } from '../../sql/select.ts';
import { type RowContext, recordText } from '../../sql/shape.ts';
import type { Statement } from '../../sql/writer.ts';
import type { Connection } from '../connection.ts';
import { sqliteAggregate } from '../sql/aggregate.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';
import { isShortList, shortCount } from './lane.ts';
import type { ReaderPool } from './pool.ts';
import type { FindJobs } from './protocol.ts';
import { runPaged, runWhole } from './run.ts';

/** Characters of arrays of Pointers that the event loop expands at once: some 2,000 records, 20 ms. */
const SHORT_ARRAYS = 128 * 1024;

/** What a read on the event loop found; `null` where it turned out too long for it. */
async function ifShort<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof NotShort) return null;
    throw error;
  }
}

interface CompiledGet {
  readonly statement: ByIdStatement;
  readonly job: ReadJob;
  readonly write: RowWriter;
}

/** What a reader knows of the schema that its queries are planned under. */
export interface PlannedSchema {
  /** How often something was taken out of it. */
  removals(): number;
  /** Looks whether another process has changed it. */
  notice(): void;
}

/** Reads of one system: short ones at once on the event loop, all others on reader threads. */
export class SqliteReader implements Reader {
  readonly #path: string;
  readonly #connection: Connection;
  readonly #pool: ReaderPool;
  readonly #schema: PlannedSchema;
  readonly #context: RowContext;
  readonly #gets = new WeakMap<Selection, CompiledGet>();

  constructor(path: string, connection: Connection, pool: ReaderPool, schema: PlannedSchema, context: RowContext) {
    this.#path = path;
    this.#connection = connection;
    this.#pool = pool;
    this.#schema = schema;
    this.#context = context;
  }

  get(selection: Selection, objectId: string): string | null | Promise<string | null> {
    const { statement, job, write } = this.#compiledGet(selection);
    const params = statement.params.with(statement.idsAt, objectId);
    if (job.includes.length > 0) return this.#getWithIncludes({ ...job, params }, selection);
    const row = this.#connection.first({ text: statement.text, params });
    return row ? write(row) : null;
  }

  async find(query: Query): Promise<FindResult> {
    const list = query.limit === 0 ? null : compileList(query, dialect, false);
    if (!list || isShortList(this.#connection, query, list)) {
      const count = query.count ? shortCount(this.#connection, query) : undefined;
      const found = count === null ? null : await ifShort(this.#findHere(query, list, count));
      if (found) return found;
    }
    const jobs = {
      list: list && readJob(query, compileList(query, dialect, true), this.#context),
      count: query.count ? compileCount(query, dialect, true) : null,
    };
    return this.#findOnThread(jobs, this.#targetsOf(query));
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    const { text, params, columns } = compileAggregation(aggregation, dialect, sqliteAggregate, this.#context);
    const job: ReadJob = { text, params, shape: { columns }, includes: [] };
    const { results } = await this.#findOnThread({ list: job, count: null }, async () => null);
    return results;
  }

  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string {
    return recordText(table, fields, values, this.#context);
  }

  async #findOnThread(jobs: Omit<FindJobs, 'removals'>, resolve: ResolveInclude): Promise<FindResult> {
    try {
      return await this.#pool.find(this.#path, { ...jobs, removals: this.#schema.removals() }, resolve);
    } catch (error) {
      if (error instanceof SchemaChanged) this.#schema.notice();
      throw error;
    }
  }

  #targetsOf(selection: Selection): ResolveInclude {
    return includeResolver(selection, (target) => byIdsJob(target, dialect, this.#context));
  }

  #compiledGet(selection: Selection): CompiledGet {
    let compiled = this.#gets.get(selection);
    if (!compiled) {
      const statement = compileGet(selection, dialect);
      const job = readJob(selection, statement, this.#context);
      compiled = { statement, job, write: rowWriter(job.shape) };
      this.#gets.set(selection, compiled);
    }
    return compiled;
  }

  async #getWithIncludes(job: ReadJob, selection: Selection): Promise<string | null> {
    const resolve = this.#targetsOf(selection);
    const here = async () => {
      for await (const text of runPaged(this.#connection, job, resolve, SHORT_ARRAYS)) return [text];
      return [];
    };
    const found = await ifShort(here());
    if (found) return found[0] ?? null;
    const { results } = await this.#findOnThread({ list: job, count: null }, resolve);
    const list = await wholeText(results);
    // The list of one record, or of none.
    return list === '[]' ? null : list.slice(1, -1);
  }

  async #findHere(query: Query, list: Statement | null, count: number | undefined): Promise<FindResult> {
    const job = list && readJob(query, list, this.#context);
    let records = '';
    if (job?.includes.length === 0) records = runWhole(this.#connection, job);
    else if (job)
      for await (const text of runPaged(this.#connection, job, this.#targetsOf(query), SHORT_ARRAYS))
        records += records === '' ? text : `,${text}`;
    const results = `[${records}]`;
    return count === undefined ? { results } : { results, count };
  }
}
