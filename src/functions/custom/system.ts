import type { JsonObject, JsonValue } from '../../kernel/json.ts';

/** A record in wire form: Dates, Pointers and Files are objects with `__type`. */
export type FunctionRecord = JsonObject & { readonly objectId: string };

/** A record whose fields the function knows better. */
export type RecordOf<Fields> = Fields & { readonly objectId: string; readonly createdAt: string; readonly updatedAt: string };

/** Fields of a record: wire values, operators (`{__op: …}`), silencing flags. A JavaScript Date is a Date; what is `undefined` is left out. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** A `where` as the data endpoints read it. */
export type Where = Readonly<Record<string, unknown>>;

/** Which parts of a record are read. */
export interface ReadOptions {
  /** Pointers whose records come along: `'AccountId'`, `['AccountId', 'SaleId.OwnerId']`. */
  readonly include?: string | readonly string[];
  /** These fields alone. */
  readonly keys?: string | readonly string[];
}

export interface FindOptions extends ReadOptions {
  readonly where?: Where;
  /** `'-createdAt'`, `['Name', '-Total']`; the order of creation where it is left out. */
  readonly order?: string | readonly string[];
  /** 100 where it is left out, as for every query. */
  readonly limit?: number;
  readonly skip?: number;
}

/** What a create answers. */
export interface CreatedRecord {
  readonly objectId: string;
  readonly createdAt: string;
}

/**
 * The records of a system as a function works with them: with full rights, under the rules that writes with the master key are held to.
 * What cannot be done throws an Error with the service's `message` and `code`. After the function's time, and after its end, all throw.
 */
export interface SystemRecords {
  /** The application id. */
  readonly appId: string;
  readonly name: string;
  /** @returns `null` where there is no such record */
  get<Fields = JsonObject>(table: string, objectId: string, options?: ReadOptions): Promise<RecordOf<Fields> | null>;
  /** @returns no more than 100 records unless `limit` says so */
  find<Fields = JsonObject>(table: string, options?: FindOptions): Promise<RecordOf<Fields>[]>;
  /** The first record that `find` would answer; `null` where there is none. */
  first<Fields = JsonObject>(table: string, options?: Omit<FindOptions, 'limit'>): Promise<RecordOf<Fields> | null>;
  count(table: string, where?: Where): Promise<number>;
  /** @param pipeline stages as the aggregation endpoint takes them; the key of a group comes as `objectId` */
  aggregate<Row = JsonObject>(table: string, pipeline: readonly Readonly<Record<string, unknown>>[]): Promise<Row[]>;
  create(table: string, fields: FieldValues): Promise<CreatedRecord>;
  /** Creates several records in one commit: all or none. One may point at another by an `objectId` from `newId()`. */
  createAll(records: readonly { readonly table: string; readonly fields: FieldValues }[]): Promise<readonly CreatedRecord[]>;
  /** @returns `updatedAt`, and the values that operators made. @throws code 101 where there is no such record */
  update(table: string, objectId: string, fields: FieldValues): Promise<JsonObject>;
  /** @throws code 101 where there is no such record, 119 where another points at it */
  delete(table: string, objectId: string): Promise<void>;
  /** The `Value` of a row of `Config`, of several rows of the name the first; `null` where there is none. */
  config(name: string): Promise<JsonValue>;
  /** The schema record of a table: its fields, permissions, indexes. `null` where there is no such table. */
  schema(table: string): Promise<JsonObject | null>;
  /** A new objectId. */
  newId(): string;
}
