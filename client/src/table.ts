import { itemError, type RecordServiceError } from './error.ts';
import type { CallOptions, Transport, WriteOptions } from './transport.ts';
import type { Created, IncludeOf, OrderOf, PathOf, Shown, TableTypes, Updated } from './types.ts';
import { entityTag, segment, type Version } from './wire.ts';

type Record_<S, T extends keyof S> = S[T] extends TableTypes ? S[T]['record'] : never;
type Create<S, T extends keyof S> = S[T] extends TableTypes ? S[T]['create'] : never;
type Update<S, T extends keyof S> = S[T] extends TableTypes ? S[T]['update'] : never;
type Where<S, T extends keyof S> = S[T] extends TableTypes ? S[T]['where'] : never;

/** Which parts of a record are answered. */
export interface ShowOptions<I extends string, K extends string> extends CallOptions {
  /** Pointers whose records stand in their place; dotted for those of these; `*` for all of the first level. */
  readonly include?: readonly I[] | undefined;
  /** The fields to show. `objectId`, `createdAt`, `updatedAt` and `ACL` always are. */
  readonly keys?: readonly K[] | undefined;
}

export interface FindOptions<R, W, I extends string, K extends string, C extends boolean> extends ShowOptions<I, K> {
  readonly where?: W | undefined;
  /** Fields, descending with `-`; without it by creation. */
  readonly order?: OrderOf<R> | readonly OrderOf<R>[] | undefined;
  /** Default 100. */
  readonly limit?: number | undefined;
  readonly skip?: number | undefined;
  /** Whether to count all records that match. */
  readonly count?: C | undefined;
}

export interface AllOptions<W, I extends string, K extends string> extends ShowOptions<I, K> {
  readonly where?: W | undefined;
  /** Records of a request. Default 500. */
  readonly pageSize?: number | undefined;
}

export type Found<R, C extends boolean> = { results: R[] } & (C extends true ? { count: number } : unknown);

export interface CreateOptions extends WriteOptions {
  /** `*`: no record may have the `objectId` that the fields give, else 412. */
  readonly ifNoneMatch?: '*' | undefined;
}

export interface ChangeOptions extends WriteOptions {
  /** The write is refused with 412 if the record has changed since. */
  readonly ifMatch?: Version | undefined;
}

export interface MatchingOptions extends WriteOptions {
  /** The number of records that match; with another one nothing is done (409). Required for `{}`. */
  readonly expect?: number | undefined;
  /** Counts only. */
  readonly dryRun?: boolean | undefined;
}

/** Outcome of a write by `where`. */
export interface Matched {
  matched: number;
  /** Records that were not written, at most 1,000 of them. */
  refused?: { objectId: string; code: number; error: string }[];
  /** Their number, if there are more. */
  refusedCount?: number;
}

export type Upserted =
  | { objectId: string; created: boolean; updatedAt: string; error?: undefined }
  | { error: RecordServiceError };

const PAGE_SIZE = 500;

const names = (list: string | readonly string[] | undefined) => (typeof list === 'string' ? list : list?.join(','));
const tag = (version: Version | undefined) => (version === undefined ? {} : { headers: { 'If-Match': entityTag(version) } });

/** The records of one table. Every method throws a `RecordServiceError` if the service refuses or does not answer. */
export class TableClient<S, T extends keyof S> {
  readonly #transport: Transport;
  readonly #name: string;
  readonly #path: string;

  constructor(transport: Transport, name: string) {
    this.#transport = transport;
    this.#name = segment(name, 'the table');
    this.#path = `/platform/classes/${this.#name}`;
  }

  /** Finds records. */
  async find<
    const I extends IncludeOf<Record_<S, T>> = never,
    const K extends PathOf<Record_<S, T>> = never,
    C extends boolean = false,
  >(options: FindOptions<Record_<S, T>, Where<S, T>, I, K, C> = {}): Promise<Found<Shown<S, T, I, K>, C>> {
    const { where, order, limit, skip, count, include, keys } = options;
    const query = {
      where,
      order: names(order),
      limit,
      skip,
      count: count ? 1 : undefined,
      include: names(include),
      keys: names(keys),
    };
    return this.#transport.read(this.#path, query, options);
  }

  /** Reads a record. An unknown id is an error with status 404 and code 101. */
  async get<const I extends IncludeOf<Record_<S, T>> = never, const K extends PathOf<Record_<S, T>> = never>(
    id: string,
    options: ShowOptions<I, K> = {},
  ): Promise<Shown<S, T, I, K>> {
    const query = { include: names(options.include), keys: names(options.keys) };
    return this.#transport.read(this.#one(id), query, options);
  }

  /** Counts records. */
  async count(where?: Where<S, T>, options?: CallOptions): Promise<number> {
    return (await this.#transport.read<{ count: number }>(this.#path, { where, limit: 0, count: 1 }, options)).count;
  }

  /**
   * Yields all records that match, in the order of their `objectId`, a page a request. While others write, each record that matches all the time
   * comes exactly once; one that is created meanwhile comes or not.
   */
  async *all<const I extends IncludeOf<Record_<S, T>> = never, const K extends PathOf<Record_<S, T>> = never>(
    options: AllOptions<Where<S, T>, I, K> = {},
  ): AsyncGenerator<Shown<S, T, I, K>, void, undefined> {
    const { where, pageSize = PAGE_SIZE, include, keys } = options;
    if (!(pageSize >= 1)) throw new TypeError('pageSize is no number of records');
    const query = { order: 'objectId', limit: pageSize, include: names(include), keys: names(keys) };
    for (let last: string | undefined; ; ) {
      const beyond = last === undefined ? where : { $and: [where ?? {}, { objectId: { $gt: last } }] };
      const read = this.#transport.read<{ results: { objectId: string }[] }>(this.#path, { ...query, where: beyond }, options);
      const { results } = await read;
      yield* results as Shown<S, T, I, K>[];
      last = results.at(-1)?.objectId;
      if (last === undefined || results.length < pageSize) return;
    }
  }

  /** Runs a pipeline of stages, or the short form; returns its rows (aggregation.md#stages). */
  // biome-ignore lint/suspicious/noExplicitAny: the pipeline decides what a row holds.
  async aggregate<Row = any>(
    pipeline: readonly object[] | Readonly<Record<string, unknown>>,
    options: CallOptions & { readonly where?: Where<S, T> | undefined } = {},
  ): Promise<Row[]> {
    const query = { where: options.where, ...(Array.isArray(pipeline) ? { pipeline } : pipeline) };
    return (await this.#transport.read<{ results: Row[] }>(`/platform/classes-aggregate/${this.#name}`, query, options)).results;
  }

  /** Creates a record. */
  async create(fields: Create<S, T>, { ifNoneMatch, ...options }: CreateOptions = {}): Promise<Created> {
    const condition = ifNoneMatch && { headers: { 'If-None-Match': ifNoneMatch } };
    return this.#write('POST', this.#path, { json: fields, ...condition }, options);
  }

  /** Changes the fields that are given; null clears one. */
  async update(id: string, fields: Update<S, T>, { ifMatch, ...options }: ChangeOptions = {}): Promise<Updated<Record_<S, T>>> {
    return this.#write('PUT', this.#one(id), { json: fields, ...tag(ifMatch) }, options);
  }

  /** Deletes a record. */
  async delete(id: string, { ifMatch, ...options }: ChangeOptions = {}): Promise<void> {
    await this.#write('DELETE', this.#one(id), tag(ifMatch), options);
  }

  /**
   * Updates the records that have the same values of the fields `matchOn`, which need a unique index, and creates the others. Each record has its own
   * outcome, in their order.
   */
  async upsert(
    matchOn: readonly PathOf<Record_<S, T>>[],
    records: readonly Create<S, T>[],
    options: WriteOptions = {},
  ): Promise<Upserted[]> {
    const path = `/platform/upsert/${this.#name}`;
    const { body, requestId } = await this.#transport.send<{ results: (Upserted | { error: Record<string, unknown> })[] }>(
      { method: 'POST', path, json: { matchOn, records }, effect: 'keyed' },
      options,
    );
    return body.results.map((one) => (one.error ? { error: itemError({ ...one.error }, requestId) } : (one as Upserted)));
  }

  /** Changes all records that match. */
  async updateWhere(
    where: Where<S, T>,
    fields: Update<S, T>,
    options: MatchingOptions = {},
  ): Promise<Matched & { updated?: number }> {
    return this.#matching('PUT', where, { json: fields }, options);
  }

  /** Deletes all records that match. */
  async deleteWhere(where: Where<S, T>, options: MatchingOptions = {}): Promise<Matched & { deleted?: number }> {
    return this.#matching('DELETE', where, {}, options);
  }

  #one(id: string): string {
    return `${this.#path}/${segment(id, 'the objectId')}`;
  }

  #matching<A>(method: 'PUT' | 'DELETE', where: unknown, sent: { json?: unknown }, options: MatchingOptions): Promise<A> {
    const { expect, dryRun, ...rest } = options;
    return this.#write(method, this.#path, { ...sent, query: { where, expect, dryRun: dryRun || undefined } }, rest);
  }

  async #write<A>(method: 'POST' | 'PUT' | 'DELETE', path: string, sent: object, options: WriteOptions): Promise<A> {
    return (await this.#transport.send<A>({ method, path, ...sent, effect: 'keyed' }, options)).body;
  }
}
