import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail, isUnavailable } from '../../../errors/fail.ts';
import type { Aggregation } from '../../../query/aggregate/model.ts';
import type { Query, Selection } from '../../../query/model/selection.ts';
import type { Field, Schema, TableSchema, UniqueIndex } from '../../../schema/model.ts';
import { type RowWriter, rowWriter } from '../../../values/rows/encode.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import type { KeyedRecord } from '../../by-key.ts';
import { type FindResult, type JsonText, type Reader, type RowForm, SchemaChanged } from '../../port.ts';
import type { QueryPlan } from '../../query-plan.ts';
import { wholeText } from '../../reader.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import {
  byIdsPlan,
  compiledAhead,
  includeResolver,
  LargeTables,
  type ReadPlan,
  type ResolveInclude,
  readPlan,
  TooLong,
  textOf,
} from '../../sql/reads/read-plan.ts';
import { type RowContext, recordText } from '../../sql/row-layout.ts';
import { type ByIdStatement, compileCount, compileCountUpTo, compileGet, compileList } from '../../sql/select.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { compileByKey, keyedRecords, requireUniqueIndex } from '../../sql/unique-key.ts';
import { MAX_VALUE_BYTES } from '../connection/open-database.ts';
import type { PlannedRows, Rows } from '../connection/statements.ts';
import { sqliteAggregate } from '../sql/aggregate.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';
import { readPlain, runPlain, runShort, writeEscaped } from './execute-read.ts';
import type { FindPlans } from './protocol.ts';
import { explainedDetails, explainPlan, planSteps } from './query-plan.ts';
import { MAX_SHORT_VALUE_BYTES, type ShortList, shortCount, shortList } from './read-routing.ts';
import type { ReaderPool } from './reader-pool.ts';

/** @returns `null` if a read turned out too long for the event loop */
function nullIfTooLong(error: unknown): null {
  if (error instanceof TooLong) return null;
  throw error;
}

/** Whether a statement names a table or column that does not exist. */
const namesNothing = (error: unknown): boolean => error instanceof Error && /^no such (?:table|column)/.test(error.message);

/** Returns the maximum bytes of a value of an aggregation: the values that its groups collect are in memory together. */
function maxValueBytesOf({ stages }: Aggregation): number {
  const accumulators = stages.flatMap((stage) => (stage.kind === 'group' ? stage.accumulators : []));
  const collecting = accumulators.filter(({ operator }) => operator === 'push' || operator === 'addToSet');
  return Math.floor(MAX_VALUE_BYTES / Math.max(1, collecting.length));
}

/**
 * Compiles a count. Without a condition, not even that of the time limit, SQLite adds up the entries on the pages of an index: six times as fast as
 * counting them one by one. It cannot be interrupted then.
 */
const wholeCount = (query: Query): Statement => compileCount(query, dialect, query.filter.kind !== 'always');

/** Maximum characters of a record that is written on the event loop. */
const MAX_SHORT_RECORD_CHARS = 1024 * 1024;
/** Keys that are looked up before other requests get a turn of the event loop. */
const KEYS_PER_TURN = 200;
/** Maximum places that includes reach into on the event loop: each needs a statement to be compiled. */
const MAX_SHORT_PLACES = 20;

interface CompiledGet {
  readonly statement: ByIdStatement;
  readonly plan: ReadPlan;
  readonly write: RowWriter;
}

/** What a reader needs of the schema that its queries are planned under. */
export interface PlannedSchema {
  /** Returns the number of removals from it so far. */
  removals(): number;
  /** Checks whether another process has changed it. @returns the schema as of now */
  notice(): Schema;
  /** The writes under way that have changed it, until whose end it cannot be read with it; `undefined` if there are none. */
  changing(): Promise<unknown> | undefined;
  /** Whether the writes that threads see already become durable; `undefined` if all are. */
  flushing(): Promise<boolean> | undefined;
  /** Returns the number of commits that were undone so far. */
  undoneCommits(): number;
  /** Call when a read on a thread begins; returns a function that receives the error of that read. */
  onFailed(): (error: unknown) => void;
}

/** Reads of one system: short ones immediately on the event loop, all others on reader threads. */
export class SqliteReader implements Reader {
  readonly #path: string;
  readonly #connection: PlannedRows;
  readonly #pool: ReaderPool;
  readonly #schema: PlannedSchema;
  readonly #context: RowContext;
  readonly #gets = new WeakMap<Selection, CompiledGet>();
  /** Reads of single records. */
  readonly #ofOne: Rows;
  readonly #large = new LargeTables();

  constructor(path: string, connection: PlannedRows, pool: ReaderPool, schema: PlannedSchema, context: RowContext) {
    this.#path = path;
    this.#connection = connection;
    this.#ofOne = connection.shorterThan(MAX_SHORT_VALUE_BYTES);
    this.#pool = pool;
    this.#schema = schema;
    this.#context = context;
  }

  get(selection: Selection, objectId: string): Promise<JsonText | null> {
    return this.#planned(() => this.#get(selection, objectId));
  }

  find(query: Query, form?: RowForm, until?: AbortSignal): Promise<FindResult> {
    return this.#planned(() => this.#find(query, form, until));
  }

  /** Runs a read that was planned with the known schema, which a thread or another process may have changed since. @throws SchemaChanged */
  async #planned<T>(read: () => Promise<T>): Promise<T> {
    const removals = this.#schema.removals();
    const changed = this.#changed();
    if (changed) await changed;
    try {
      return await read();
    } catch (error) {
      if (!namesNothing(error)) throw error;
      this.#schema.notice();
      // Writes that have failed take their fields with them.
      if (this.#schema.removals() === removals && !changed) throw error;
      throw new SchemaChanged();
    }
  }

  /** Waits for the writes under way that have changed the schema. @throws SchemaChanged if they are undone: what they allow is not to be read */
  #changed(): Promise<void> | undefined {
    const undone = this.#schema.undoneCommits();
    return this.#schema.changing()?.then(() => {
      if (this.#schema.undoneCommits() !== undone) throw new SchemaChanged();
    });
  }

  async #get(selection: Selection, objectId: string): Promise<JsonText | null> {
    const { statement, plan, write } = this.#compiledGet(selection);
    const params = statement.params.with(statement.idsAt, objectId);
    const { className } = selection.table;
    if (this.#large.has(className)) return this.#getOnThread({ ...plan, params }, selection);
    if (plan.includes.length > 0) return this.#getWithIncludes({ ...plan, params }, selection);
    try {
      const row = this.#ofOne.first({ text: statement.text, params });
      if (!row) return null;
      if (textOf(row) <= MAX_SHORT_RECORD_CHARS) return write(row);
      this.#large.note(className);
    } catch (error) {
      nullIfTooLong(error);
    }
    return this.#getOnThread({ ...plan, params }, selection);
  }

  async #find(query: Query, form: RowForm | undefined, until?: AbortSignal): Promise<FindResult> {
    const found = await this.#findHere(query, form).catch(nullIfTooLong);
    if (found) return found;
    const plans = {
      list: query.limit === 0 ? null : readPlan(query, compileList(query, dialect, true), this.#context),
      count: query.count ? wholeCount(query) : null,
    };
    return this.#findOnThread(plans, query, until);
  }

  async aggregate(aggregation: Aggregation): Promise<JsonText> {
    await this.#changed();
    const { text, params, columns } = compileAggregation(aggregation, dialect, sqliteAggregate, this.#context);
    const maxValueBytes = maxValueBytesOf(aggregation);
    const plan: ReadPlan = { text, params, shape: { columns }, includes: [], maxValueBytes };
    const { results } = await this.#findOnThread({ list: plan, count: null }, null);
    return results;
  }

  /** On a thread: SQLite prepares a statement with many conditions for some time. */
  async explain(read: Query | Aggregation): Promise<QueryPlan> {
    await this.#changed();
    const { text, params } = this.#statementOf(read);
    const { results } = await this.#findOnThread({ list: explainPlan({ text, params }), count: null }, null);
    return { steps: planSteps(text, explainedDetails(await wholeText(results)), this.#schema.notice()) };
  }

  async countUpTo(query: Query, atMost: number): Promise<number> {
    await this.#changed();
    const { count = 0 } = await this.#findOnThread({ list: null, count: compileCountUpTo(query, atMost, dialect, true) }, null);
    return count;
  }

  #statementOf(read: Query | Aggregation): Statement {
    if ('stages' in read) return compileAggregation(read, dialect, sqliteAggregate, this.#context);
    return read.limit === 0 && read.count ? wholeCount(read) : compileList(read, dialect, true);
  }

  /** On the event loop: each key is one look-up in an index. */
  async findByKey(
    table: TableSchema,
    index: UniqueIndex,
    keys: readonly (readonly StoredValue[])[],
  ): Promise<readonly (KeyedRecord | null)[]> {
    const found: (KeyedRecord | null)[] = [];
    await this.#changed();
    for (let at = 0; at < keys.length; at += KEYS_PER_TURN) {
      if (at > 0) await nextTurn();
      requireUniqueIndex(this.#schema.notice(), table, index);
      const some = keys.slice(at, at + KEYS_PER_TURN);
      found.push(...keyedRecords(this.#connection.all(compileByKey(table, index, some, dialect)), some.length));
    }
    return found;
  }

  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string {
    return recordText(table, fields, values, this.#context);
  }

  /** @param selection of the list, for its includes; `null` if it has none */
  async #findOnThread(plans: Omit<FindPlans, 'removals'>, selection: Selection | null, until?: AbortSignal): Promise<FindResult> {
    const undone = this.#schema.undoneCommits();
    const byIds = (target: Selection) => byIdsPlan(target, dialect, this.#context);
    const ahead = <Plan extends ReadPlan>(plan: Plan, of: Selection) => compiledAhead(plan, of, byIds);
    // Includes that are known now are compiled now: each request of the thread takes two messages.
    const list = plans.list && selection ? ahead(plans.list, selection) : plans.list;
    const whole = { ...plans, list, removals: this.#schema.removals() };
    const resolve = selection ? includeResolver(selection, (target) => ahead(byIds(target), target)) : async () => null;
    try {
      const found = await this.#pool.find(this.#path, whole, resolve, this.#schema.onFailed(), until);
      if ((await this.#schema.flushing()) === false) fail('unavailable');
      return found;
    } catch (error) {
      // It has seen writes that were undone, or its thread gave it up for that.
      if (isUnavailable(error) && this.#schema.undoneCommits() !== undone) return this.#findOnThread(plans, selection, until);
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
      const plan = readPlan(selection, statement, this.#context);
      compiled = { statement, plan, write: rowWriter(plan.shape) };
      this.#gets.set(selection, compiled);
    }
    return compiled;
  }

  async #getWithIncludes(plan: ReadPlan, selection: Selection): Promise<JsonText | null> {
    const found = await this.#expandedHere(this.#ofOne, plan, selection);
    if (found === null) return this.#getOnThread(plan, selection);
    return found === '' ? null : found;
  }

  /** Returns a read with its includes on the event loop; `null` if it is not short. */
  async #expandedHere(rows: Rows, plan: ReadPlan, selection: Selection): Promise<string | null> {
    if ((selection.places ?? 0) > MAX_SHORT_PLACES) return null;
    try {
      return await runShort(rows, plan, this.#targetsOf(selection));
    } catch (error) {
      nullIfTooLong(error);
      this.#large.note(selection.table.className);
      return null;
    }
  }

  async #getOnThread(plan: ReadPlan, selection: Selection): Promise<JsonText | null> {
    const { results } = await this.#findOnThread({ list: plan, count: null, isOne: true }, selection);
    return results === '' ? null : results;
  }

  /** Executes a short query; returns `null` for all others. @throws TooLong */
  async #findHere(query: Query, form: RowForm | undefined): Promise<FindResult | null> {
    if (this.#large.has(query.table.className)) return null;
    const list = query.limit === 0 ? undefined : shortList(this.#connection, query);
    if (list === null) return null;
    const count = query.count ? shortCount(this.#connection, query) : undefined;
    if (count === null) return null;
    const found = list ? await this.#listHere(query, list, form) : { results: '[]' };
    if (found === null) return null;
    return count === undefined ? found : { ...found, count };
  }

  async #listHere(query: Query, { statement, maxValueBytes }: ShortList, form: RowForm | undefined): Promise<FindResult | null> {
    const plan = readPlan(query, statement, this.#context);
    const rows = this.#connection.shorterThan(maxValueBytes);
    if (plan.includes.length === 0) {
      if (form === 'values') return { results: '', rows: readPlain(rows, plan) };
      return form ? { results: '', escaped: writeEscaped(rows, plan) } : { results: `[${runPlain(rows, plan)}]` };
    }
    const records = await this.#expandedHere(rows, plan, query);
    return records === null ? null : { results: `[${records}]` };
  }
}
