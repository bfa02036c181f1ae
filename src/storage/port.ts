import type { RowGuard } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Aggregation } from '../query/aggregate/model.ts';
import type { Filter } from '../query/model/filter.ts';
import type { Query, Selection } from '../query/model/selection.ts';
import type { SchemaChange } from '../schema/change.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import type { JsonEdit } from '../values/operators/apply.ts';
import type { StoredValue } from '../values/types/type.ts';
import type { Cluster } from './cluster.ts';
import type { RawAccess, StoreSnapshot } from './raw-access.ts';

/** JSON text, whole or piece by piece. A stream that fails breaks off; one that is no longer read must be returned. */
export type JsonText = string | AsyncIterable<string>;

/** Characters of a text that is put together in memory, for callers that need it in one piece. */
const MAX_WHOLE_TEXT = 64 * 1024 * 1024;

/**
 * The text in one piece.
 * @param most characters
 * @throws resultTooLarge (116) for one that is longer
 */
export async function wholeText(text: JsonText, most = MAX_WHOLE_TEXT): Promise<string> {
  if (typeof text === 'string') return text;
  let whole = '';
  for await (const piece of text) {
    whole += piece;
    if (whole.length > most) fail('resultTooLarge');
  }
  return whole;
}

/** What a query found. */
export interface FindResult {
  /** JSON array of the records; empty where `rows` has them. */
  readonly results: JsonText;
  /** The records as values, where they were wanted and are at hand (`rowsOf`). */
  readonly rows?: readonly JsonObject[];
  /** Present where the query asked for it. */
  readonly count?: number;
}

/** A read met a schema that has lost something since it was planned: it is to be planned anew. */
export class SchemaChanged extends Error {}

/** One system's reads. Long ones run off the event loop and end at the time limit. @throws timeout, noTextIndex, SchemaChanged */
export interface Reader {
  /** JSON text of the first record of the selection; `null` where there is none. */
  get(selection: Selection, objectId: string): Promise<JsonText | null>;
  /**
   * @param wantsRows whether values are wanted, not text: they come where they are at hand
   * @param until ends the statement with `timeout`, as far as nothing was answered yet
   */
  find(query: Query, wantsRows?: boolean, until?: AbortSignal): Promise<FindResult>;
  /** JSON array of result rows. */
  aggregate(aggregation: Aggregation): Promise<JsonText>;
  /**
   * JSON text of a record, in wire form, from its stored values: Relations of the table included, absent values left out.
   * @param fields one list for the same fields, by which the form is remembered; it begins with objectId
   * @param values in the order of the fields
   */
  textOf(table: TableSchema, fields: readonly Field[], values: readonly StoredValue[]): string;
}

/** A column's new value in an update. */
export type Assignment =
  | { readonly kind: 'set'; readonly field: Field; readonly value: StoredValue }
  | { readonly kind: 'increment'; readonly field: Field; readonly amount: number }
  /** Array and Object columns: operators, at a place inside where the edit has a path. */
  | { readonly kind: 'edit'; readonly field: Field; readonly edits: readonly JsonEdit[] };

/** What a step fails with that does not find its record. */
export type MissingError = 'objectNotFound' | 'unknownFile' | 'outOfStorage';

/** Columns of a new record that take over the values of another record, as it is when their step comes. */
export interface RecordCopy {
  readonly kind: 'copy';
  readonly from: TableSchema;
  readonly objectId: string;
  /** One at least. */
  readonly fields: ReadonlyArray<readonly [to: Field, from: Field]>;
}

/** A column of a new record that takes a snapshot of another record: its values as they are when the step comes, bounded (snapshot-limits.ts). */
export interface Snapshot {
  readonly kind: 'snapshot';
  readonly from: TableSchema;
  readonly objectId: string;
  /** Whose values are in it, in this order; no Relations. One list for the same fields. */
  readonly fields: readonly Field[];
  /** A String. It takes the JSON text of an array of stored values; numbers and Booleans may be texts in it (`snapshotValues` in column-values.ts). */
  readonly to: Field;
}

/** What an insert takes of another record. */
export type InsertSource = RecordCopy | Snapshot;

/** One step of a write. All steps of a write, and the schema changes before them, take effect together or not at all. */
export type Mutation =
  /** @throws duplicateValue when the objectId is taken; the error of `uniqueFieldsOf` where another record has the value of such a field */
  | {
      readonly kind: 'insert';
      readonly table: TableSchema;
      readonly values: ReadonlyArray<readonly [Field, StoredValue]>;
      /** Nothing is added where the other record is not there. Nobody changes one that a snapshot is taken of until the commit. */
      readonly source?: InsertSource;
      /** It tells of the write in a table of the service's own, under a new id: it does not fail, and may be added in any order with others. */
      readonly isNote?: true;
    }
  /** @throws objectNotFound when there is no such record, the guard hides it or the condition is not met; the errors of `uniqueFieldsOf` */
  | {
      readonly kind: 'update';
      readonly table: TableSchema;
      readonly objectId: string;
      readonly guard: RowGuard | null;
      /** What has to hold of the record, looked at in the commit itself. */
      readonly condition?: Filter;
      /** The error instead of objectNotFound. */
      readonly missing?: MissingError;
      readonly assignments: readonly Assignment[];
      /** Fields whose new values the outcome carries. */
      readonly returning: readonly Field[];
      /** It carries them only where this guard lets the caller at the record as it is then. */
      readonly returningGuard?: RowGuard | null;
    }
  /** Checks that nobody points at the record, then deletes it and its join rows. @throws objectNotFound, pointedAt */
  | { readonly kind: 'delete'; readonly table: TableSchema; readonly objectId: string; readonly guard: RowGuard | null }
  /** Lets the write go on where a record matches, looked at in the commit itself. @throws objectNotFound where none does */
  | {
      readonly kind: 'require';
      readonly table: TableSchema;
      readonly filter: Filter;
      readonly missing?: MissingError;
      /** Another write that requires the same record is done before the next step, which sees what it wrote, or waits for the end of this one. */
      readonly exclusive?: true;
    }
  /**
   * Clears a Boolean mark in the newest few of the matching records. Only these are examined, so that the cost is constant where an index has
   * the values and `createdAt`; a mark further back, after many writes at once, stays.
   */
  | {
      readonly kind: 'unmark';
      readonly table: TableSchema;
      /** The first names what the records are about, which an index may have. */
      readonly holding: readonly [readonly [Field, StoredValue], ...(readonly [Field, StoredValue])[]];
      readonly mark: Field;
    }
  /** Sets fields of every record that matches. For tables of the service's own. */
  | {
      readonly kind: 'updateAll';
      readonly table: TableSchema;
      readonly filter: Filter;
      /** Of the kind `set`, one at least. */
      readonly assignments: readonly Assignment[];
    }
  /** Deletes every record that matches, pointed at or not. For tables whose records nothing depends on: sessions, logs. */
  | { readonly kind: 'deleteAll'; readonly table: TableSchema; readonly filter: Filter }
  /** Adds members to, or removes them from, a Relation of a record. */
  | {
      readonly kind: 'link';
      readonly table: TableSchema;
      readonly relation: Field;
      readonly ownerId: string;
      readonly memberIds: readonly string[];
    }
  | {
      readonly kind: 'unlink';
      readonly table: TableSchema;
      readonly relation: Field;
      readonly ownerId: string;
      readonly memberIds: readonly string[] | 'all';
    };

/** A condition of a write does not hold: what it was decided by is no longer so, and it is to be decided anew. Nothing was written. */
export class Overtaken extends Error {}

/** The last writer under a key, as far as a store that several processes share needs to know. */
export interface KeyVersion {
  /** Several keys may share a slot: then one looks as if it were written to when another one is. */
  readonly slot: number;
  /** Empty: nobody. */
  readonly writer: string;
}

/**
 * What has to hold for a write to be carried out, looked at in the commit itself, before its steps. Writes with conditions on one thing are
 * carried out one after the other, whatever process they come by, and each sees those before.
 */
export type Condition =
  /** Nobody but this writer has written under the keys since their versions were read. The write itself counts as one under these keys. */
  | { readonly kind: 'unchanged'; readonly versions: readonly KeyVersion[]; readonly writer: string }
  /** No record of the table matches. */
  | {
      readonly kind: 'absent';
      readonly table: TableSchema;
      readonly filter: Filter;
      /** Names what the filter looks for: the same for all writes that may make what it finds. */
      readonly key: string;
    };

/** A write as data: its conditions, schema changes, then the steps. */
export interface WritePlan {
  /** @throws Overtaken where one does not hold */
  readonly conditions?: readonly Condition[];
  readonly changes: readonly SchemaChange[];
  readonly mutations: readonly Mutation[];
}

/** A write that is ready to be carried out. */
export interface PreparedWrite {
  /** Of writes that reach the store in one turn of the event loop, the one with the lowest number (`nextWriteOrder`) goes first. */
  readonly order?: number;
  /**
   * What to do under a given schema. Pure. Called once when the write is prepared, and again by the engine where the schema has changed
   * until the write's turn comes; errors reject this write alone.
   */
  plan(schema: Schema): WritePlan;
}

/** What came of a write, after it is durable. */
export interface WriteOutcome {
  /** Members of a JSON object, each after a comma (`,"views":5`): the values that updates returned; empty where none were asked for. */
  readonly returned: string;
}

/** The store of one system. */
export interface Store {
  readonly reader: Reader;
  readonly raw: RawAccess;
  /** The processes that serve the systems of this database: the same for all its stores. */
  readonly cluster: Cluster;
  /** Where it lies, and the files of its system with it (places.ts). */
  readonly place: string;
  /** The schema as of now, as far as it is known (`whenCurrent`). */
  schema(): Schema;
  /**
   * Waits, where that is not certain, until the store knows what other processes did up to half a second ago: to its schema and to the
   * tables that `tableVersion` speaks of. To be asked before each request. @throws unavailable
   */
  whenCurrent(): Promise<void>;
  /** Whether `whenCurrent` has nothing to wait for. */
  isCurrent(): boolean;
  /**
   * Another number once anybody has written to a table. Cheap: what was made of the table's records is good for as long as the number is
   * the same. Writes of other processes to system tables that are watched (`isWatched`) are noticed within half a second, to others within
   * one or two, to hidden ones not for certain.
   */
  tableVersion(className: string): number;
  /**
   * Carries a write out and resolves when it is durable. Writes of one turn of the event loop share a commit, in their
   * order (`PreparedWrite.order`); each fails alone.
   */
  write(write: PreparedWrite): Promise<WriteOutcome>;
  /**
   * The versions of keys, in their order, for the condition `unchanged` of a write that is decided by what is read after this: the schema,
   * too, is known then as it is. Within a process writers take turns by themselves: a store that one process has to itself reads nothing.
   * @throws unavailable, timeout
   */
  keyVersions(keys: readonly string[]): Promise<readonly KeyVersion[]>;
  /**
   * Carries a write out together with others of its kind, within a fifth of a second, and before any delete. For rows that nobody waits
   * for: a crash before loses them, and errors are reported to the operator alone.
   */
  writeBehind(write: PreparedWrite): void;
  /**
   * Puts the records of a table into its search index (`TableIndex.isFilling`) by and by, so that other writes hardly wait for it, and goes
   * on where it, or another process, was. Resolves once that is said in the schema, and where the table has no such index any more.
   * @param isEnough asked now and then: it resolves where it is, and what the database does by itself by then goes on
   * @throws unavailable, also where the store is closed; another call goes on
   */
  fillSearchIndex(className: string, isEnough: () => boolean): Promise<void>;
  /**
   * Many writes in one commit, for commands that have the store to themselves. The store that `work` is handed answers each write when it
   * is carried out; each fails alone. All are durable when this resolves, and undone where `work` throws. Meanwhile other writes wait, and
   * reads see what is not durable yet.
   */
  bulkTransaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Hands `work` one consistent picture of the system, which holds until `work` ends: every write that was acknowledged before is in it, none
   * by half, and others go on writing meanwhile. For commands: its reads are made by the calling thread.
   * @throws unavailable
   */
  withSnapshot<T>(work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T>;
  /**
   * Resolves once the store has been seen to answer a read and to take a write again after a fault that can pass (`unavailable`,
   * `outcomeUnknown`); at once where no such fault is known. Never rejects. Work that met one waits for it, not for a pause of its own.
   */
  whenBack(): Promise<void>;
  close(): Promise<void>;
}
