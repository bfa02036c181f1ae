/** A typed client of the Record Data Service. `client(…)` returns one; its errors are `RecordServiceError`. */
export type { Answers, Item, Outcome, Outcomes, TableItems } from './batch.ts';
export { type Client, type ClientOptions, type CoreClient, type Credential, client, type Items } from './client.ts';
export { type FailureKind, RecordServiceError } from './error.ts';
export type { RetryPolicy } from './retry.ts';
export type { Files, Functions, Sessions, SignedIn, Users } from './services.ts';
export type {
  AllOptions,
  ChangeOptions,
  CreateOptions,
  FindOptions,
  Found,
  Matched,
  MatchingOptions,
  ShowOptions,
  TableClient,
  Upserted,
} from './table.ts';
export type { CallOptions, Fetch, WriteOptions } from './transport.ts';
export type { AnySchema, AnyTable, Created, Shown, SystemFields, TableTypes, Updated } from './types.ts';
export { type DateValue, date, type FileValue, type Pointer, pointer, type Version } from './wire.ts';
