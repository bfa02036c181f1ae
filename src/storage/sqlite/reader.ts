import type { Aggregation } from '../../query/aggregate/model.ts';
import type { Query, Selection } from '../../query/selection.ts';
import { type RowWriter, rowWriter } from '../../values/encode.ts';
import type { FindResult, JsonText, Reader } from '../port.ts';
import { compileAggregation } from '../sql/aggregate.ts';
import { compileCount, compileGet, compileList, type Statement } from '../sql/select.ts';
import type { Connection } from './connection.ts';
import { sqliteDialect as dialect } from './dialect.ts';
import { includeResolver, type ReadJob, readJob } from './job.ts';
import { isShortList, shortCount } from './lane.ts';
import type { ReaderPool } from './reader-pool.ts';
import { runPaged, runWhole } from './run.ts';

interface CompiledGet {
  readonly statement: Statement;
  readonly job: ReadJob;
  readonly write: RowWriter;
}

/** Reads of one system: short ones at once on the event loop, all others on reader threads. */
export class SqliteReader implements Reader {
  readonly #path: string;
  readonly #connection: Connection;
  readonly #pool: ReaderPool;
  readonly #gets = new WeakMap<Selection, CompiledGet>();

  constructor(path: string, connection: Connection, pool: ReaderPool) {
    this.#path = path;
    this.#connection = connection;
    this.#pool = pool;
  }

  get(selection: Selection, objectId: string): string | null | Promise<string | null> {
    const { statement, job, write } = this.#compiledGet(selection);
    const params = [objectId, ...statement.params.slice(1)];
    if (job.includes.length > 0) return this.#getWithIncludes({ ...job, params }, selection);
    const row = this.#connection.first({ text: statement.text, params });
    return row ? write(row) : null;
  }

  async find(query: Query): Promise<FindResult> {
    const list = query.limit === 0 ? null : compileList(query, dialect, false);
    if (!list || isShortList(this.#connection, query, list)) {
      const count = query.count ? shortCount(this.#connection, query) : undefined;
      if (count !== null) return this.#findHere(query, list, count);
    }
    const jobs = {
      list: list && readJob(query, compileList(query, dialect, true)),
      count: query.count ? compileCount(query, dialect, true) : null,
    };
    return this.#pool.find(this.#path, jobs, includeResolver(query));
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    const { text, params, columns } = compileAggregation(aggregation, dialect);
    const job: ReadJob = { text, params, shape: { columns }, includes: [] };
    const { results } = await this.#pool.find(this.#path, { list: job, count: null }, async () => null);
    return results;
  }

  #compiledGet(selection: Selection): CompiledGet {
    let compiled = this.#gets.get(selection);
    if (!compiled) {
      const statement = compileGet(selection, dialect);
      const job = readJob(selection, statement);
      compiled = { statement, job, write: rowWriter(job.shape) };
      this.#gets.set(selection, compiled);
    }
    return compiled;
  }

  async #getWithIncludes(job: ReadJob, selection: Selection): Promise<string | null> {
    for await (const text of runPaged(this.#connection, job, includeResolver(selection))) return text;
    return null;
  }

  async #findHere(query: Query, list: Statement | null, count: number | undefined): Promise<FindResult> {
    const job = list && readJob(query, list);
    let records = '';
    if (job?.includes.length === 0) records = runWhole(this.#connection, job);
    else if (job)
      for await (const text of runPaged(this.#connection, job, includeResolver(query)))
        records += records === '' ? text : `,${text}`;
    const results = `[${records}]`;
    return count === undefined ? { results } : { results, count };
  }
}
