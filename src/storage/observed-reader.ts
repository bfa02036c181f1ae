import { isTimeout } from '../errors/fail.ts';
import { type Observations, type QueryOperation, type QueryShape, traced, tracerInUse } from '../observe/index.ts';
import type { Aggregation } from '../query/aggregate/model.ts';
import type { Query, Selection } from '../query/model/selection.ts';
import { orderShape, stagesShape, whereShape } from '../query/shape.ts';
import { fieldOf } from '../schema/model.ts';
import { stepText } from './query-plan.ts';
import type { CountedText, FindResult, JsonText, Reader, RowForm } from './reader.ts';
import { countRecords } from './text-values.ts';

/** Steps of a plan that are reported. */
const MAX_STEPS = 20;

/** Returns a reader whose reads make spans and, if they are long, observations; the reader itself if none is to be made. */
export function observedReader(reader: Reader, appId = '', observations?: Observations): Reader {
  return observations && (Number.isFinite(observations.slowQueryMs) || tracerInUse())
    ? new ObservedReader(reader, appId, observations)
    : reader;
}

/** One read, as it is reported. */
interface Observed {
  readonly operation: QueryOperation;
  readonly read: Query | Aggregation;
}

/** Measures reads from outside: their time in queues, in the database, and, for long answers, until their last chunk. Adds one promise to each. */
class ObservedReader implements Reader {
  readonly findByKey: Reader['findByKey'];
  readonly explain: Reader['explain'];
  readonly countUpTo: Reader['countUpTo'];
  readonly textOf: Reader['textOf'];
  readonly #reader: Reader;
  readonly #appId: string;
  readonly #observations: Observations;

  constructor(reader: Reader, appId: string, observations: Observations) {
    this.#reader = reader;
    this.#appId = appId;
    this.#observations = observations;
    this.findByKey = (...key) => reader.findByKey(...key);
    this.explain = (read) => reader.explain(read);
    this.countUpTo = (query, atMost) => reader.countUpTo(query, atMost);
    this.textOf = (...record) => reader.textOf(...record);
  }

  /** The most frequent read: a short one without traces makes no object, and no closure, besides the promise. */
  async get(selection: Selection, objectId: string): Promise<JsonText | null> {
    const since = performance.now();
    let text: JsonText | null;
    try {
      text = await (tracerInUse() === null ? this.#reader.get(selection, objectId) : this.#tracedGet(selection, objectId));
    } catch (error) {
      return this.#failed(since, observedGet(selection, objectId), error);
    }
    const isShort = performance.now() - since < this.#observations.slowQueryMs;
    if (isShort && (text === null || typeof text === 'string')) return text;
    return this.#observedText(since, observedGet(selection, objectId), text, (whole) => (whole === null ? 0 : 1));
  }

  #tracedGet(selection: Selection, objectId: string): Promise<JsonText | null> {
    return traced('store.get', tableOf(selection), () => this.#reader.get(selection, objectId));
  }

  find(query: Query, form?: RowForm, until?: AbortSignal): Promise<FindResult> {
    const since = performance.now();
    const observed = (): Observed => ({ operation: query.limit === 0 && query.count ? 'count' : 'find', read: query });
    return traced('store.find', tableOf(query), () => this.#reader.find(query, form, until)).then(
      (found) => {
        const rows = found.rows ?? found.escaped;
        if (rows) this.#report(since, observed, () => rows.length);
        const results = rows ? found.results : this.#observedText(since, observed, found.results, recordsOf);
        return results === found.results ? found : { ...found, results };
      },
      (error) => this.#failed(since, observed, error, until?.aborted),
    );
  }

  aggregate(aggregation: Aggregation): Promise<JsonText> {
    const since = performance.now();
    const observed = (): Observed => ({ operation: 'aggregate', read: aggregation });
    return traced('store.aggregate', tableOf(aggregation), () => this.#reader.aggregate(aggregation)).then(
      (text) => this.#observedText(since, observed, text, recordsOf),
      (error) => this.#failed(since, observed, error),
    );
  }

  /** Reports a whole answer; wraps one in chunks, which is reported at its end. */
  #observedText<Text extends JsonText | null>(
    since: number,
    observed: () => Observed,
    text: Text,
    rowsOf: (text: string | null) => number | undefined,
  ): Text {
    if (typeof text !== 'object' || text === null) {
      this.#report(since, observed, () => rowsOf(text as string | null));
      return text;
    }
    const took = performance.now() - since;
    return observedChunks(text, took, (ms, error) =>
      this.#reportAfter(ms, observed, () => countOf(text), error),
    ) as AsyncIterable<string> as Text;
  }

  /** @param isAborted whether its caller has ended it, which is not its time limit */
  #failed(since: number, observed: () => Observed, error: unknown, isAborted = false): never {
    if (!isAborted) this.#report(since, observed, () => undefined, error);
    throw error;
  }

  #report(since: number, observed: () => Observed, rows: () => number | undefined, error?: unknown): void {
    this.#reportAfter(performance.now() - since, observed, rows, error);
  }

  #reportAfter(ms: number, observed: () => Observed, rowsOf: () => number | undefined, error?: unknown): void {
    const isTimedOut = isTimeout(error);
    const observations = this.#observations;
    if (
      (ms < observations.slowQueryMs && !isTimedOut) ||
      (error !== undefined && !isTimedOut) ||
      !observations.isObserved('query')
    )
      return;
    const { operation, read } = observed();
    const rows = rowsOf();
    observations.observe({
      kind: 'query',
      system: this.#appId,
      table: read.table.className,
      operation,
      ms,
      ...(rows !== undefined && { rows }),
      isTimedOut,
      shape: () => shapeOf(read),
      plan: async () => {
        const { steps } = await this.#reader.explain(read);
        return steps.slice(0, MAX_STEPS).map((step) => stepText(step));
      },
    });
  }
}

const tableOf = ({ table }: Pick<Selection, 'table'>) => ({ 'rds.table': table.className });

const observedGet = (selection: Selection, objectId: string) => (): Observed => ({
  operation: 'get',
  read: pointRead(selection, objectId),
});

/** Returns the query that a read of one record stands for. */
function pointRead(selection: Selection, objectId: string): Query {
  const byId = { kind: 'compare', field: fieldOf(selection.table, 'objectId'), op: 'eq', value: objectId } as const;
  const filter = { kind: 'and', items: [byId, selection.filter] } as const;
  return { ...selection, filter, order: [], skip: 0, limit: 1, count: false, withScore: false };
}

function shapeOf(read: Query | Aggregation): QueryShape {
  const where = whereShape(read.filter);
  return 'stages' in read ? { where, order: [], stages: stagesShape(read.stages) } : { where, order: orderShape(read.order) };
}

const recordsOf = (text: string | null): number | undefined => (text === null ? 0 : countRecords(text));

const countOf = (text: AsyncIterable<string>): number | undefined => (text as Partial<CountedText>).records;

/** Passes chunks on and adds up the time that the store took for them, without the time that the client took. @param ended called once */
function observedChunks(
  chunks: AsyncIterable<string>,
  tookMs: number,
  ended: (ms: number, error?: unknown) => void,
): AsyncIterableIterator<string> {
  const iterator = chunks[Symbol.asyncIterator]();
  let ms = tookMs;
  let isOver = false;
  const end = (error?: unknown) => {
    if (!isOver) ended(ms, error);
    isOver = true;
  };
  const passed: AsyncIterableIterator<string> = {
    [Symbol.asyncIterator]: () => passed,
    async next() {
      const since = performance.now();
      try {
        const next = await iterator.next();
        ms += performance.now() - since;
        if (next.done) end();
        return next;
      } catch (error) {
        ms += performance.now() - since;
        end(error);
        throw error;
      }
    },
    async return() {
      end();
      return (await iterator.return?.()) ?? { done: true, value: undefined };
    },
  };
  return passed;
}
