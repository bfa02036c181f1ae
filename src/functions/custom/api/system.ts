import type { JsonObject, JsonValue } from '../../../kernel/json.ts';

/** A record in wire form: Dates, Pointers and Files are objects with `__type`. */
export type FunctionRecord = JsonObject & { readonly objectId: string };

/** A record with the field types that the function declares. */
export type RecordOf<Fields> = Fields & { readonly objectId: string; readonly createdAt: string; readonly updatedAt: string };

/** Fields of a record: wire values, operators (`{__op: …}`), silencing flags. A JavaScript Date is converted; `undefined` is omitted. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** A `where`, as the data endpoints take it. */
export type Where = Readonly<Record<string, unknown>>;

/** Options for reading a record. */
export interface ReadOptions {
  /** Pointers to expand: `'AccountId'`, `['AccountId', 'SaleId.OwnerId']`. */
  readonly include?: string | readonly string[];
  /** Restricts the result to these fields. */
  readonly keys?: string | readonly string[];
}

export interface FindOptions extends ReadOptions {
  readonly where?: Where;
  /** `'-createdAt'`, `['Name', '-Total']`. Default: the order of creation. */
  readonly order?: string | readonly string[];
  /** Default: 100, as for every query. */
  readonly limit?: number;
  readonly skip?: number;
}

/** The result of a create. */
export interface CreatedRecord {
  readonly objectId: string;
  readonly createdAt: string;
}

/**
 * The records of a system as a function accesses them: with full rights, under the same rules as writes with the master key. Failures throw an Error
 * with the service's `message` and `code`. After the time limit and after the function's end, all methods throw.
 */
export interface SystemRecords {
  /** The application id. */
  readonly appId: string;
  readonly name: string;
  /** @returns `null` if the record does not exist */
  get<Fields = JsonObject>(table: string, objectId: string, options?: ReadOptions): Promise<RecordOf<Fields> | null>;
  /** @returns at most 100 records, unless `limit` is given */
  find<Fields = JsonObject>(table: string, options?: FindOptions): Promise<RecordOf<Fields>[]>;
  /** Returns the first record that `find` would return; `null` if there is none. */
  first<Fields = JsonObject>(table: string, options?: Omit<FindOptions, 'limit'>): Promise<RecordOf<Fields> | null>;
  count(table: string, where?: Where): Promise<number>;
  /** @param pipeline stages, as the aggregation endpoint takes them; the key of a group is returned as `objectId` */
  aggregate<Row = JsonObject>(table: string, pipeline: readonly Readonly<Record<string, unknown>>[]): Promise<Row[]>;
  create(table: string, fields: FieldValues): Promise<CreatedRecord>;
  /** Creates several records in one commit: all or none. They may point at each other by an `objectId` from `newId()`. */
  createAll(records: readonly { readonly table: string; readonly fields: FieldValues }[]): Promise<readonly CreatedRecord[]>;
  /** @returns `updatedAt`, and the values that operators produced. @throws code 101 if the record does not exist */
  update(table: string, objectId: string, fields: FieldValues): Promise<JsonObject>;
  /** @throws code 101 if the record does not exist, 119 if another record points at it */
  delete(table: string, objectId: string): Promise<void>;
  /** Returns the `Value` of a row of `Config`, the first of several; `null` if there is none. */
  config(name: string): Promise<JsonValue>;
  /** Returns the schema record of a table: its fields, permissions, indexes. `null` if the table does not exist. */
  schema(table: string): Promise<JsonObject | null>;
  /** Returns a new objectId. */
  newId(): string;
}
