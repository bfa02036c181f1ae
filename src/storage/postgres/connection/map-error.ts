import { isInDoubt, isUnavailable, ServiceError, serviceError } from '../../../errors/fail.ts';
import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../../../errors/system-faults.ts';

/** A transaction of `atomically` that PostgreSQL refused. Nothing of it has taken effect. */
export class StatementFailed extends Error {
  /** The statement that failed, from 0; the number of statements where it was the commit. */
  readonly index: number;
  /** The database's error, or `timeout`. */
  override readonly cause: unknown;

  constructor(index: number, cause: unknown) {
    super(`statement ${index} failed: ${cause instanceof Error ? cause.message : String(cause)}`);
    this.name = 'StatementFailed';
    this.index = index;
    this.cause = cause;
  }
}

/** `outcomeUnknown`: the connection was lost on the way of a commit, which may have taken effect. */
export class CommitUnknown extends ServiceError {
  constructor(cause?: unknown) {
    super('outcomeUnknown', serviceError('outcomeUnknown').message);
    this.name = 'CommitUnknown';
    this.cause = cause;
  }
}

/** The connection was lost before a statement: nothing of it went out. */
export class NotSent extends Error {
  constructor(lost: Error) {
    super(`Connection terminated before: ${lost.message}`, { cause: lost });
    this.name = 'NotSent';
  }
}

/** `unavailable`, with its cause for the log. */
export function unavailable(cause?: unknown): ServiceError {
  return cause === undefined ? serviceError('unavailable') : unavailableSince(cause);
}

/** The error of the database that is at the bottom of one of ours, or the error itself. */
export function causeOf(error: unknown): unknown {
  return error instanceof StatementFailed ? error.cause : error;
}

/** What the database, the driver or the operating system said that an error comes of. */
function saidOf(error: unknown): unknown {
  const cause = causeOf(error);
  return cause instanceof ServiceError && cause.cause !== undefined ? saidOf(cause.cause) : cause;
}

/** The SQLSTATE of an error, or the code of the operating system's. `undefined` where it has none. */
function codeOf(error: unknown): string | undefined {
  const said = saidOf(error);
  const code = said instanceof Error ? (said as Error & { readonly code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function isFatal(error: unknown): boolean {
  const severity = (error as { readonly severity?: unknown }).severity;
  return severity === 'FATAL' || severity === 'PANIC';
}

/**
 * Ends of a session: 57P01 to 57P05 shutdown, crash, starting, database dropped, idle; 25P03 and 25P04 too long in a transaction. 25006: it
 * takes no writes, as a primary that has become a standby; another connection may lead to the new one.
 */
const SESSION_ENDED = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', '25P03', '25P04', '53300', '25006']);
/** 08P01 is also what a statement gets that is bound to the wrong number of values. */
const CONNECTION_FAILED = new Set(['08000', '08001', '08003', '08004', '08006', '08007']);
const SOCKET_FAILED =
  /^(?:E(?:CONN[A-Z]+|PIPE|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|NOTFOUND|AI_AGAIN|NOENT|ACCES)|ERR_(?:SSL|TLS|STREAM|SOCKET)_\w+)$/;
const DRIVER_LOST =
  /^(?:Connection terminated|Client (?:was closed|has encountered a connection error)|timeout expired|Connection ended)/;

/** Whether the connection was lost, or could not be had (the server is away, starting, or has no place left). */
export function isConnectionError(error: unknown): boolean {
  const said = saidOf(error);
  if (!(said instanceof Error)) return false;
  const code = codeOf(said);
  if (code === undefined) return DRIVER_LOST.test(said.message);
  return isFatal(said) || SESSION_ENDED.has(code) || CONNECTION_FAILED.has(code) || SOCKET_FAILED.test(code);
}

/** Whether the server answered that a statement failed, and the session goes on. */
export function isAnswer(error: unknown): boolean {
  const { severity } = saidOf(error) as { readonly severity?: unknown };
  return severity === 'ERROR';
}

/** Whether it is the server that said so, be it that it takes no further connection: it can be reached. */
export function isSaidByServer(error: unknown): boolean {
  return typeof (saidOf(error) as { readonly severity?: unknown } | undefined)?.severity === 'string';
}

/** Whether the server itself ended the session at this place, having done nothing further; poolers that lose one say 08P01. */
export function isEndedByServer(error: unknown): boolean {
  return /^(?:57P|25)/.test(codeOf(error) ?? '');
}

/** Whether a statement was ended by its time limit (57014), or by an administrator. */
export function isTimeout(error: unknown): boolean {
  const cause = causeOf(error);
  return codeOf(cause) === '57014' || (cause instanceof ServiceError && cause.key === 'timeout');
}

/**
 * A prepared statement went well before and now its parameters have the wrong types: those that its columns had when it was prepared. A field
 * has gone and come back with another type.
 */
export class OutdatedStatement extends Error {
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'OutdatedStatement';
    this.code = codeOf(cause);
  }
}

/**
 * What such a statement fails with: a column takes no such expression (42804), has no such operator (42883) or cast (42846), or a value is none of
 * the type that the column had (22P02).
 */
const RETYPED = new Set(['42804', '42883', '42846', '22P02']);

/** Whether a statement may have failed because the columns that it was prepared for have other types now. */
export function isRetyped(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && RETYPED.has(code);
}

/** The prepared statement is not there (26000), its result has other columns by now (0A000) or its parameters other types: prepare it anew. */
export function isForgotten(error: unknown): boolean {
  if (causeOf(error) instanceof OutdatedStatement) return true;
  const code = codeOf(error);
  return code === '26000' || (code === '0A000' && /cached plan/.test((saidOf(error) as Error).message));
}

/**
 * A schema, table, column, type, index or operator is not there or is another one; a value does not fit the column. 42P07, 42701, 42710 and
 * 42P06: it is there already.
 */
const STALE = new Set('3F000 42P01 42703 42P10 42804 42883 42704 42P18 42846 22P02 0A000 42P07 42701 42710 42P06'.split(' '));

/** Whether the statement was made for another schema than the database has: it is to be compiled anew once the schema is known again. */
export function isStale(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) return false;
  if (code !== 'XX000') return STALE.has(code);
  // What a statement meets whose table is dropped while it runs.
  return /^(?:cache lookup failed|could not open relation|could not find)/.test((saidOf(error) as Error).message);
}

/** `unavailable` where the catalogue of a system's schema is not there: the schema is missing. All other errors stay. */
export function ofCatalog(error: unknown): unknown {
  if (!isStale(error)) return error;
  return unavailableSince(
    Object.assign(new Error('the schema, or a table of it, is not there', { cause: error }), { code: '3F000' }),
  );
}

/**
 * `unavailable` where a statement that fits the catalogue, as it was read after the statement failed, met no such table: it, or its schema, is
 * missing, or was so for a moment. All other errors stay.
 */
export function ofKnownSchema(error: unknown): unknown {
  return codeOf(error) === '42P01' ? ofCatalog(error) : error;
}

/** Whether the same transaction may go through when it is run again: a deadlock, a conflict, a lock not had in time, a forgotten statement. */
export function mayRetry(error: unknown): boolean {
  if (isInDoubt(error)) return false;
  const code = codeOf(error);
  return code === '40P01' || code === '40001' || code === '55P03' || isForgotten(error);
}

/**
 * Whether a fault that can pass may be one statement's alone: its time or the memory for it was up, or others were in its way. The others of
 * its transaction may go through without it.
 */
export function isOfStatement(error: unknown): boolean {
  const code = codeOf(error);
  return code === '57014' || code === '53200' || mayRetry(error);
}

/** What a write fails with that waited for a lock for too long, in several attempts. */
export function lockNotHad(): Error {
  return Object.assign(new Error('a lock was not had in time'), { code: '55P03', severity: 'ERROR' });
}

/** Whether a lock was not had in time (55P03). */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** The constraint or unique index that a row violates (23505); `undefined` for other errors. */
export function violatedConstraint(error: unknown): string | undefined {
  if (codeOf(error) !== '23505') return undefined;
  const { constraint } = saidOf(error) as { readonly constraint?: unknown };
  return typeof constraint === 'string' ? constraint : '';
}

/** Whether a number is out of the range of its type (22003). */
export function isOutOfRange(error: unknown): boolean {
  return codeOf(error) === '22003';
}

/** Whether a bound of the database was passed: an index entry, a statement, the columns of a table (54000, 54001, 54011, 54023). */
export function isTooLarge(error: unknown): boolean {
  return codeOf(error)?.startsWith('54') === true;
}

/** Whether a value, or two rows together, are what their table cannot have (classes 22 and 23). */
export function isOfValues(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '');
}

/**
 * Kinds of faults that can pass by their SQLSTATE, or its class: the first that an error begins with. 08P01 is not among them, which is a
 * fault of ours where the session goes on.
 */
const PASSING: readonly (readonly [string, PassingFault])[] = [
  ['53100', 'the disk is full'],
  ['53', 'the database has no room'],
  ['25006', 'the storage is read-only'],
  ['57014', 'the database refuses for now'],
  ['57P', 'the database cannot be reached'],
  ['57', 'the database refuses for now'],
  ['58', 'an I/O error'],
  ['40', 'the database refuses for now'],
  ['55P03', 'the database refuses for now'],
  // A system's schema was dropped, or renamed.
  ['3F000', 'the store is missing'],
  // A page that cannot be read.
  ['XX001', 'the store is damaged'],
  ['XX002', 'the store is damaged'],
];

/**
 * The kind of a fault that can pass (CONTRACT "Faults of the store"), also of one that callers are told of already; `null` for every other
 * error. A read whose time is up is none.
 */
export function faultOf(error: unknown): PassingFault | null {
  const code = codeOf(error);
  const kind = PASSING.find(([beginning]) => code?.startsWith(beginning))?.[1];
  if (kind) return kind;
  if (isConnectionError(error)) return 'the database cannot be reached';
  const ofSystem = passingFaultOfSystem(saidOf(error));
  if (ofSystem) return ofSystem;
  // What the driver, or TLS, says that is of no kind.
  return (isUnavailable(error) || isInDoubt(error)) && saidOf(error) !== error ? 'the database cannot be reached' : null;
}

/**
 * An error of a write as callers get it: a fault that can pass is `unavailable`, with its cause; nothing was done. All others stay. Those that
 * say that a transaction may go through when it is run again are told of by `mayRetry` all the same.
 */
export function ofWrite(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  return faultOf(error) ? unavailableSince(error) : error;
}

/** The same of a read, whose time limit ends as `timeout`. */
export function ofRead(error: unknown): unknown {
  return isTimeout(error) && !(error instanceof ServiceError) ? serviceError('timeout') : ofWrite(error);
}

/** Whether a read may be done once more: its connection was lost, or has forgotten the statement. */
export function mayReadAgain(error: unknown): boolean {
  return (isConnectionError(error) && !isUnavailable(error)) || isForgotten(error);
}
