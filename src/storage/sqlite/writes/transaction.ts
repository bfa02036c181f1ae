import { fail, isUnavailable } from '../../../errors/fail.ts';
import { inDoubtSince } from '../../../errors/system-faults.ts';
import type { Filter } from '../../../query/model/filter.ts';
import { type Field, fieldOf, type TableSchema } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { growthOf } from '../../column-values.ts';
import type { Mutation, WritePlan } from '../../port.ts';
import { compileRequire } from '../../sql/mutation.ts';
import type { Connection } from '../connection/connection.ts';
import { isAfterWriting, missingError } from '../connection/map-error.ts';
import { touchCatalog } from '../schema/catalog.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';

/** Runs work inside the caller's transaction, as a whole or, where it throws, not at all. */
export function inSavepoint<T>(connection: Connection, work: () => T): T {
  connection.execute('SAVEPOINT w');
  try {
    const result = work();
    connection.execute('RELEASE w');
    return result;
  } catch (error) {
    if (connection.isTransaction) undo(connection);
    throw error;
  }
}

function undo(connection: Connection): void {
  try {
    connection.execute('ROLLBACK TO w');
    connection.execute('RELEASE w');
  } catch (error) {
    // Half of it must not stay: the whole transaction goes.
    connection.rollback();
    throw error;
  }
}

/**
 * Whether a plan takes effect as a whole by itself: its first step is one SQL statement, and those after it, which tell of it, do not
 * fail. A savepoint costs a copy of every page that is touched, as much as a third of an insert.
 */
export function isWhole({ changes, mutations: [first, ...others] }: WritePlan): boolean {
  if (changes.length > 0 || !first || !others.every(isSure)) return false;
  // What an update returns, and what its record has become, is checked after the statement.
  return single.has(first.kind) || (first.kind === 'update' && first.returning.length === 0 && growthOf(first) === null);
}

const single: ReadonlySet<Mutation['kind']> = new Set(['insert', 'updateAll', 'deleteAll'] as const);

const isSure = (step: Mutation): boolean => step.kind === 'unmark' || (step.kind === 'insert' && step.isNote === true);

/**
 * Carries out a plan that is whole. Where a step after the first fails all the same, which is a fault, the transaction ends and takes the
 * other writes of its group along: nothing of this one stays.
 */
export function withoutSavepoint<T>(connection: Connection, plan: WritePlan, work: (plan: WritePlan) => T): T {
  const { changes, mutations } = plan;
  const done = work({ ...plan, mutations: mutations.slice(0, 1) });
  if (mutations.length === 1) return done;
  try {
    work({ changes, mutations: mutations.slice(1) });
  } catch (cause) {
    connection.rollback();
    if (isUnavailable(cause)) throw cause;
    throw new Error('what tells of a write could not be written', { cause });
  }
  return done;
}

/** Milliseconds that a look counts for before something is written. */
const LOOK_MS = 5;

/** How often the seal is tried. */
const MAX_SEALS = 3;

/**
 * Ends a transaction that writes, which is durable then.
 * @param isInPlace whether the file is still where others will look for it, by a look that may be so old
 * @throws unavailable where nothing of it was done, and will not be after a crash either; outcomeUnknown where that is not certain
 */
export function commit(connection: Connection, isInPlace: (withinMs?: number) => boolean): void {
  if (!isInPlace(LOOK_MS)) {
    connection.rollback();
    throw missingError(connection.path);
  }
  try {
    connection.execute('COMMIT');
  } catch (error) {
    connection.rollback();
    if (!isAfterWriting(error) || seal(connection)) throw error;
    throw inDoubtSince(error);
  }
  if (!isInPlace()) throw inDoubtSince(new Error('the file was taken away while it was written to'));
}

/**
 * Makes a transaction that failed in its COMMIT a failed one for good. What it wrote may lie in the log whole, only not yet known to be on the
 * disk: a process that opens the file after a crash would take it for committed. The next transaction begins at the same place of the log, and each
 * page there continues the checksum of the one before: one that is other than the failed one's first page ends all that followed it. This
 * one is a single page, which a longer transaction does not begin with, and its content is new.
 * @returns whether it was written: flushed to the disk or not, it is what the operating system has at that place
 */
function seal(connection: Connection): boolean {
  for (let attempt = 0; attempt < MAX_SEALS; attempt++) {
    try {
      // A connection of its own would not do: the last one that closes, or the first that opens, reads the log anew.
      connection.db.exec('BEGIN IMMEDIATE');
      touchCatalog(connection.db);
      connection.db.exec('COMMIT');
      return true;
    } catch (error) {
      connection.rollback();
      // At the beginning of a log it may be the flush of the log's header that failed, before any page was written.
      if (isAfterWriting(error) && (connection.logLength()?.pages ?? 0) > 0) return true;
    }
  }
  return false;
}

const SQLITE_CONSTRAINT_UNIQUE = 2067;

/** What a write sets. */
export type Values = readonly (readonly [Field, StoredValue])[];

/**
 * @param firstTaken names the first unique field whose value another record has; of several, SQLite tells another one
 * @throws duplicateValue, or the error of the field whose value another record has (schema/system-tables.ts)
 */
export function unlessTaken<T>(table: TableSchema, write: () => T, firstTaken: () => string | undefined = () => undefined): T {
  try {
    return write();
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode !== SQLITE_CONSTRAINT_UNIQUE) throw error;
    // UNIQUE constraint failed: t__User._username_key
    const column = message.slice(message.lastIndexOf('.') + 1);
    const told = table.fields.values().find((one) => one.column === column)?.name ?? '';
    const errors = uniqueFieldsOf(table.className);
    return fail(errors.get((errors.has(told) && firstTaken()) || told) ?? 'duplicateValue');
  }
}

/** The first of a table's unique fields, in their order, of which another record has the value that is set. */
export function firstTakenOf(connection: Connection, table: TableSchema, objectId: StoredValue, set: Values): string | undefined {
  const values = new Map([...set].map(([{ name }, value]) => [name, value]));
  const others: Filter = { kind: 'not', item: { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: objectId } };
  const isTaken = (name: string) => {
    const value = values.get(name) ?? null;
    if (value === null) return false;
    const same: Filter = { kind: 'compare', field: fieldOf(table, name), op: 'eq', value };
    return connection.first(compileRequire({ table, filter: { kind: 'and', items: [same, others] } }, dialect));
  };
  return uniqueFieldsOf(table.className).keys().find(isTaken);
}
