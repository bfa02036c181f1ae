import type { RowGuard } from '../access/index.ts';
import type { Filter } from '../query/model/filter.ts';
import type { SchemaChange } from '../schema/change.ts';
import type { Field, Schema, TableSchema } from '../schema/model.ts';
import type { JsonEdit } from '../values/operators/apply.ts';
import type { StoredValue } from '../values/types/type.ts';
import type { Cluster } from './cluster.ts';
import type { RawAccess, StoreSnapshot } from './raw-access.ts';
import type { Reader } from './reader.ts';

export { type FindResult, type JsonText, MAX_TEXT_CHARS, type Reader, type RowForm, SchemaChanged, wholeText } from './reader.ts';

/** A column's new value in an update. */
export type Assignment =
  | { readonly kind: 'set'; readonly field: Field; readonly value: StoredValue }
  | { readonly kind: 'increment'; readonly field: Field; readonly amount: number }
  /**
   * A Date that never goes back or stays: `value`, or the stored one plus `step` milliseconds if that is later. The outcome returns it. At most one in
   * an update.
   */
  | { readonly kind: 'advance'; readonly field: Field; readonly value: number; readonly step: number }
  /** Array and Object columns: operators, applied at the edit's path inside the value if it has one. */
  | { readonly kind: 'edit'; readonly field: Field; readonly edits: readonly JsonEdit[] };

/** Error of a step that does not find its record. */
export type MissingError = 'objectNotFound' | 'unknownFile' | 'outOfStorage';

/** Columns of a new record that are copied from another record, as it is when the step runs. */
export interface RecordCopy {
  readonly kind: 'copy';
  readonly from: TableSchema;
  readonly objectId: string;
  /** At least one. */
  readonly fields: ReadonlyArray<readonly [to: Field, from: Field]>;
}

/** A column of a new record that takes a snapshot of another record: its values when the step runs, with limited sizes (snapshot-limits.ts). */
export interface Snapshot {
  readonly kind: 'snapshot';
  readonly from: TableSchema;
  readonly objectId: string;
  /** The fields whose values it holds, in this order; no Relations. The same array object for the same fields. */
  readonly fields: readonly Field[];
  /** A String. It receives a JSON array of stored values; numbers and Booleans may be texts in it (`snapshotValues` in column-values.ts). */
  readonly to: Field;
}

/** Values of an insert that come from another record. */
export type InsertSource = RecordCopy | Snapshot;

/** One step of a write. All steps of a write, and the schema changes before them, take effect together or not at all. */
export type Mutation = Step & {
  /** Position, among the records of the write, of the one that the step belongs to: named by its error and its result. Left out: 0. */
  readonly item?: number;
};

type Step =
  /** @throws duplicateValue if the objectId is taken; the error of `uniqueFieldsOf` if another record has the value of such a field */
  | {
      readonly kind: 'insert';
      readonly table: TableSchema;
      readonly values: ReadonlyArray<readonly [Field, StoredValue]>;
      /** If the source record does not exist, nothing is inserted. The source of a snapshot stays locked against changes until the commit. */
      readonly source?: InsertSource | undefined;
      /** A log row about the write, in one of the service's own tables and under a new id: it cannot fail, and its order does not matter. */
      readonly isNote?: true;
      /** A row about the write whose objectId may be taken, which makes the write fail. Like a note it may be part of another step's statement. */
      readonly isJoined?: true;
    }
  /** @throws objectNotFound if there is no such record, the guard hides it or the condition is not met; the errors of `uniqueFieldsOf` */
  | {
      readonly kind: 'update';
      readonly table: TableSchema;
      readonly objectId: string;
      readonly guard: RowGuard | null;
      /** Must hold for the record; checked inside the commit. */
      readonly condition?: Filter;
      /** The error instead of objectNotFound. */
      readonly missing?: MissingError;
      readonly assignments: readonly Assignment[];
      /** Fields whose new values the outcome returns. */
      readonly returning: readonly Field[];
      /** If set, values are returned only if this guard lets the caller read the record as it is after the update. */
      readonly returningGuard?: RowGuard | null;
    }
  /** Checks that no record points at this one, then deletes it and its join rows. @throws objectNotFound, pointedAt */
  | {
      readonly kind: 'delete';
      readonly table: TableSchema;
      readonly objectId: string;
      readonly guard: RowGuard | null;
      /** As in an update. */
      readonly condition?: Filter;
    }
  /** Lets the write proceed only if a record matches; checked inside the commit. @throws objectNotFound if none does */
  | {
      readonly kind: 'require';
      readonly table: TableSchema;
      readonly filter: Filter;
      readonly missing?: MissingError;
      /**
       * Serialises with other writes that require the same record: the next step runs after they are done and sees what they wrote, or they wait for
       * the end of this one.
       */
      readonly exclusive?: true;
    }
  /**
   * Clears a Boolean flag on the most recent matching records. Only the newest few are examined, so the cost is constant if an index covers the
   * values and `createdAt`; a flag further back (after a burst of writes) may survive.
   */
  | {
      readonly kind: 'unmark';
      readonly table: TableSchema;
      /** The first one names the subject of the records, which an index may cover. */
      readonly holding: readonly [readonly [Field, StoredValue], ...(readonly [Field, StoredValue])[]];
      readonly mark: Field;
    }
  /** Sets fields of every record that matches. For the service's own tables. */
  | {
      readonly kind: 'updateAll';
      readonly table: TableSchema;
      readonly filter: Filter;
      /** Of the kind `set`, at least one. */
      readonly assignments: readonly Assignment[];
    }
  /** Deletes every record that matches, without checking whether others point at it. For tables whose records nothing depends on: sessions, logs. */
  | { readonly kind: 'deleteAll'; readonly table: TableSchema; readonly filter: Filter }
  /** Adds members to a Relation of a record, or removes them from it. */
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

/** A condition of a write no longer holds: what the caller decided by has changed, and it must decide again. Nothing was written. */
export class ConditionFailed extends Error {}

/** The last writer under a key, as far as a store that several processes share needs it. */
export interface KeyVersion {
  /** Keys may share a slot; a write under one of them then looks like a write under all. */
  readonly slot: number;
  /** Empty: no writer yet. */
  readonly writer: string;
}

/**
 * What must hold for a write to be executed; checked inside the commit, before its steps. Writes with conditions on the same thing are executed one
 * after the other, across processes, and each sees the results of those before it.
 */
export type Condition =
  /** No other writer has written under the keys since their versions were read. The write then counts as one under these keys. */
  | { readonly kind: 'unchanged'; readonly versions: readonly KeyVersion[]; readonly writer: string }
  /** No record of the table matches. */
  | {
      readonly kind: 'absent';
      readonly table: TableSchema;
      readonly filter: Filter;
      /** Names what the filter looks for: the same for all writes that may create what it finds. */
      readonly key: string;
    };

/** A write as data: its conditions, then schema changes, then the steps. */
export interface WritePlan {
  /** @throws ConditionFailed if one does not hold */
  readonly conditions?: readonly Condition[];
  readonly changes: readonly SchemaChange[];
  readonly mutations: readonly Mutation[];
}

/** A write that is ready to be executed. */
export interface PreparedWrite {
  /** Among writes that reach the store in one turn of the event loop, the one with the lowest number (`nextWriteOrder`) goes first. */
  readonly order?: number;
  /**
   * Returns what to do under a given schema. Must be pure: it is called when the write is prepared, and again by the engine if the schema changes
   * before the write's turn. An error rejects this write only.
   */
  plan(schema: Schema): WritePlan;
}

/** The result of a write, available once it is durable. */
export interface WriteOutcome {
  /** Members of a JSON object, each after a comma (`,"views":5`): the values that updates return; empty if none were requested. */
  readonly returned: string;
  /** The results of the updates that advance a Date, in their order; left out if there are none. */
  readonly updates?: readonly UpdateResult[];
}

/** The result of an update that advances a Date (`Assignment`). */
export interface UpdateResult {
  /** Position of its record, as in `Mutation`. */
  readonly item: number;
  /** The Date as stored, in milliseconds since 1970. */
  readonly updatedAt: number;
  /** As in `WriteOutcome`, of this update alone. */
  readonly returned: string;
}

/** Outcome of a step that returns nothing. */
export const noOutcome: WriteOutcome = { returned: '' };

/** Joins the outcomes of two steps, or of several. */
export function joinOutcomes(first: WriteOutcome, next: WriteOutcome): WriteOutcome {
  if (first === noOutcome) return next;
  if (next === noOutcome) return first;
  const updates = first.updates && next.updates ? [...first.updates, ...next.updates] : (first.updates ?? next.updates);
  return { returned: first.returned + next.returned, ...(updates && { updates }) };
}

/** The store of one system. */
export interface Store {
  readonly reader: Reader;
  readonly raw: RawAccess;
  /** The processes that serve the systems of this database: the same object for all its stores. */
  readonly cluster: Cluster;
  /** Location of the store and of the files of its system (places.ts). */
  readonly place: string;
  /** Returns the current schema, as far as this process knows it (`whenCurrent`). */
  schema(): Schema;
  /** Returns the schema without changes that a power cut could take back: for answers that show it (docs/adr/0038). */
  durableSchema(): Schema;
  /**
   * Returns a text that is the same, in all processes and after restarts, as long as the schema and the addresses of files are: what the wire form of
   * a record depends on besides its values and its reader. `null` if it is not known now.
   */
  recordForm(): string | null;
  /**
   * Waits, if necessary, until the store knows what other processes did up to half a second ago, to its schema and to the tables that `tableVersion`
   * covers. Call it before each request. @throws unavailable
   */
  whenCurrent(): Promise<void>;
  /** Returns whether `whenCurrent` has nothing to wait for. */
  isCurrent(): boolean;
  /**
   * Returns a number that changes with each write to a table, cheaply: values derived from the table's records stay valid while the number is the
   * same. Writes of other processes are noticed within half a second in watched system tables (`isWatched`), within one or two seconds in other
   * tables, and not reliably in hidden ones.
   */
  tableVersion(className: string): number;
  /**
   * Executes a write and resolves when it is durable. Writes of one turn of the event loop share a commit, in their order (`PreparedWrite.order`); a
   * failing write does not affect the others.
   */
  write(write: PreparedWrite): Promise<WriteOutcome>;
  /**
   * Returns the versions of keys, in their order, for the condition `unchanged` of a write that depends on what is read after this call; it also
   * brings the known schema up to date. Writers of one process take turns by themselves, so a store that one process has to itself reads nothing
   * here.
   * @throws unavailable, timeout
   */
  keyVersions(keys: readonly string[]): Promise<readonly KeyVersion[]>;
  /**
   * Executes a write together with others of its kind, within a fifth of a second and before any delete. For rows that no caller waits for: a crash
   * before then loses them, and errors are only logged.
   */
  writeBehind(write: PreparedWrite): void;
  /**
   * Adds the records of a table to its search index (`TableIndex.isFilling`) in small steps, so that other writes hardly wait, and continues where an
   * earlier call or another process stopped. Resolves once the schema says that the index is filled, or if the table no longer has such an index.
   * @param shouldStop polled; when it returns true the call resolves, while work that the database does by itself continues
   * @throws unavailable, also if the store is closed; another call continues
   */
  fillSearchIndex(className: string, shouldStop: () => boolean): Promise<void>;
  /**
   * Executes many writes in one commit, for commands that have the store to themselves. The store passed to `work` resolves each write when it is
   * executed; a failing write does not affect the others. All are durable when this resolves, and rolled back if `work` throws. Meanwhile other
   * writes wait, and reads see changes that are not durable yet.
   */
  bulkTransaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /**
   * Passes one consistent snapshot of the system to `work`, valid until `work` ends. It contains every write that was acknowledged before, and none
   * partially; other writes continue meanwhile. For commands: its reads run on the calling thread.
   * @throws unavailable
   */
  withSnapshot<T>(work: (snapshot: StoreSnapshot) => Promise<T>): Promise<T>;
  /**
   * Resolves once the store has answered a read and accepted a write again after a transient fault (`unavailable`, `outcomeUnknown`); immediately if
   * no such fault is known. Never rejects. Work that met such a fault waits for this instead of a delay of its own.
   */
  whenBack(): Promise<void>;
  close(): Promise<void>;
}
