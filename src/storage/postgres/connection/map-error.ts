import { isInDoubt, isUnavailable, ServiceError, serviceError } from '../../../errors/fail.ts';
import { type PassingFault, passingFaultOfSystem, unavailableSince } from '../../../errors/system-faults.ts';
import { isFromNode, lostNodeIn, NodeUnanswered } from './node-errors.ts';

/** A transaction of `atomically` that PostgreSQL rejected. None of it has taken effect. */
export class StatementFailed extends Error {
  /** Index of the failed statement; the number of statements if the commit failed. */
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

/** `outcomeUnknown`: the connection was lost during a commit, which may have taken effect. */
export class CommitUnknown extends ServiceError {
  constructor(cause?: unknown) {
    super('outcomeUnknown', serviceError('outcomeUnknown').message);
    this.name = 'CommitUnknown';
    this.cause = cause;
  }
}

/** The connection was lost before a statement was sent. */
export class NotSent extends Error {
  constructor(lost: Error) {
    super(`Connection terminated before: ${lost.message}`, { cause: lost });
    this.name = 'NotSent';
  }
}

/** Returns `unavailable`, with its cause for the log. */
export function unavailable(cause?: unknown): ServiceError {
  return cause === undefined ? serviceError('unavailable') : unavailableSince(cause);
}

/** Returns the error of the database that a `StatementFailed` wraps, or the error itself. */
export function causeOf(error: unknown): unknown {
  return error instanceof StatementFailed ? error.cause : error;
}

/** Returns the underlying error of the database, the driver or the operating system. */
export function rootErrorOf(error: unknown): unknown {
  const cause = causeOf(error);
  return cause instanceof ServiceError && cause.cause !== undefined ? rootErrorOf(cause.cause) : cause;
}

/**
 * Returns the code of an error that decided the fate of its statement; `undefined` for a write in doubt, whose cause decides nothing: it must not be
 * taken for a conflict that may be tried again.
 */
export function decisiveCodeOf(error: unknown): string | undefined {
  return isInDoubt(causeOf(error)) ? undefined : codeOf(error);
}

/** Returns the SQLSTATE of an error, or its system error code; `undefined` if it has neither. */
function codeOf(error: unknown): string | undefined {
  const root = rootErrorOf(error);
  const code = root instanceof Error ? (root as Error & { readonly code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function isFatal(error: unknown): boolean {
  const severity = (error as { readonly severity?: unknown }).severity;
  return severity === 'FATAL' || severity === 'PANIC';
}

/**
 * SQLSTATEs that end a session: 57P01 to 57P05 shutdown, crash, starting, database dropped, idle; 25P03 and 25P04 timeouts of a transaction; 53300
 * too many connections. 25006 read-only: a primary that has become a standby; a new connection may lead to the new primary.
 */
const SESSION_ENDED = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', '25P03', '25P04', '53300', '25006']);
/** Connection exceptions. Without 08P01, which also reports a statement with the wrong number of parameters. */
const CONNECTION_FAILED = new Set(['08000', '08001', '08003', '08004', '08006', '08007']);
const SOCKET_FAILED =
  /^(?:E(?:CONN[A-Z]+|PIPE|TIMEDOUT|HOSTUNREACH|HOSTDOWN|NETUNREACH|NETDOWN|NOTFOUND|AI_AGAIN|NOENT|ACCES)|ERR_(?:SSL|TLS|STREAM|SOCKET)_\w+)$/;
const DRIVER_LOST =
  /^(?:Connection terminated|Client (?:was closed|has encountered a connection error)|timeout expired|Connection ended)/;

/**
 * Whether the connection was lost or could not be opened (server unreachable, starting, or out of connections). False if the coordinator of a
 * cluster has lost a node, because its session continues.
 */
export function isConnectionError(error: unknown): boolean {
  const root = rootErrorOf(error);
  if (root instanceof NodeUnanswered) return true;
  if (!(root instanceof Error) || lostNodeIn(root) !== undefined || isFromNode(root)) return false;
  const code = codeOf(root);
  if (code === undefined) return DRIVER_LOST.test(root.message);
  return isFatal(root) || SESSION_ENDED.has(code) || CONNECTION_FAILED.has(code) || SOCKET_FAILED.test(code);
}

/** Whether the server rejected a statement and the session continues. */
export function isStatementError(error: unknown): boolean {
  const { severity } = rootErrorOf(error) as { readonly severity?: unknown };
  return severity === 'ERROR';
}

/** Whether the node of a system reported the error, or was lost: it concerns no system of another node. */
export function isOfNode(error: unknown): boolean {
  return lostNodeOf(error) !== undefined || isFromNode(rootErrorOf(error));
}

/** Returns the node that the coordinator of a cluster could not reach, '' if it does not name it; `undefined` for other errors. */
export function lostNodeOf(error: unknown): string | undefined {
  const root = rootErrorOf(error);
  return lostNodeIn(root instanceof NotSent ? root.cause : root);
}

/** Whether the error came from the server, which is therefore reachable, even if it refuses further connections. */
export function isFromServer(error: unknown): boolean {
  return typeof (rootErrorOf(error) as { readonly severity?: unknown } | undefined)?.severity === 'string';
}

/** Whether the server itself ended the session here, having done nothing further. Excludes 08P01, which a pooler reports when it loses a server. */
export function isEndedByServer(error: unknown): boolean {
  return /^(?:57P|25)/.test(codeOf(error) ?? '');
}

/** Whether a statement was ended by its time limit (57014) or cancelled by an administrator. */
export function isTimeout(error: unknown): boolean {
  const cause = causeOf(error);
  return decisiveCodeOf(cause) === '57014' || (cause instanceof ServiceError && cause.key === 'timeout');
}

/**
 * A prepared statement that worked before now fails because its parameters have the types that its columns had when it was prepared: a field was
 * deleted and created again with another type.
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
 * SQLSTATEs of such failures: the column does not take the expression (42804), no such operator (42883) or cast (42846), the value is invalid for
 * the column's former type (22P02).
 */
const RETYPED = new Set(['42804', '42883', '42846', '22P02']);

/** Whether a statement may have failed because the columns it was prepared for have changed type. */
export function isRetyped(error: unknown): boolean {
  const code = decisiveCodeOf(error);
  return code !== undefined && RETYPED.has(code);
}

/** Whether the statement must be prepared again: it no longer exists (26000), its result columns (0A000) or parameter types have changed. */
export function isStatementForgotten(error: unknown): boolean {
  if (causeOf(error) instanceof OutdatedStatement) return true;
  const code = decisiveCodeOf(error);
  return code === '26000' || (code === '0A000' && /cached plan/.test((rootErrorOf(error) as Error).message));
}

/**
 * SQLSTATEs of a schema mismatch: a schema, table, column, type, index or operator is missing or differs; a value does not fit the column; or an
 * object already exists (42P07, 42701, 42710, 42P06).
 */
const STALE = new Set('3F000 42P01 42703 42P10 42804 42883 42704 42P18 42846 22P02 0A000 42P07 42701 42710 42P06'.split(' '));

/** Whether the statement was compiled for another schema than the database has, and must be compiled again after the schema is reloaded. */
export function isSchemaStale(error: unknown): boolean {
  const code = decisiveCodeOf(error);
  if (code === undefined) return false;
  if (code !== 'XX000') return STALE.has(code);
  // Internal errors of a statement whose table is dropped while it runs.
  return /^(?:cache lookup failed|could not open relation|could not find)/.test((rootErrorOf(error) as Error).message);
}

/** Maps errors that show a system's catalogue, and so its schema, to be missing to `unavailable`. Returns all other errors unchanged. */
export function mapCatalogError(error: unknown): unknown {
  if (!isSchemaStale(error)) return error;
  return unavailableSince(
    Object.assign(new Error('the schema, or a table of it, is not there', { cause: error }), { code: '3F000' }),
  );
}

/**
 * Maps "no such table" to `unavailable`, for a statement that matches the catalogue as read after the failure: the table or its schema is missing,
 * or was so for a moment. Returns all other errors unchanged.
 */
export function mapMissingTable(error: unknown): unknown {
  return decisiveCodeOf(error) === '42P01' ? mapCatalogError(error) : error;
}

/**
 * Whether the same transaction may succeed when repeated: a deadlock, a serialization conflict, a lock timeout, or a forgotten prepared statement.
 */
export function mayRetry(error: unknown): boolean {
  const code = decisiveCodeOf(error);
  return code === '40P01' || code === '40001' || code === '55P03' || isStatementForgotten(error);
}

/**
 * Whether a passing fault may concern one statement alone: it ran out of time or memory, or conflicted with others. The rest of its transaction may
 * succeed without it.
 */
export function isStatementLocal(error: unknown): boolean {
  const code = decisiveCodeOf(error);
  return code === '57014' || code === '53200' || mayRetry(error);
}

/** Returns the error of a write that waited too long for a lock, over several attempts. */
export function lockTimeoutError(): Error {
  return Object.assign(new Error('a lock was not had in time'), { code: '55P03', severity: 'ERROR' });
}

/** Whether a lock timed out (55P03). */
export function isLockTimeout(error: unknown): boolean {
  return decisiveCodeOf(error) === '55P03';
}

/**
 * Passing faults by SQLSTATE or prefix of it; the first match applies. 08P01 is not listed: if the session continues, it is a bug of this program.
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
  // A system's schema was dropped or renamed.
  ['3F000', 'the store is missing'],
  // An unreadable page.
  ['XX001', 'the store is damaged'],
  ['XX002', 'the store is damaged'],
];

/**
 * Returns the kind of a passing fault, also for an error that was mapped already; `null` for all other errors, including a read that exceeds its
 * time limit. Reference: faults.md#passing-faults.
 */
export function passingFaultOf(error: unknown): PassingFault | null {
  if (lostNodeOf(error) !== undefined) return 'a node of the database cannot be reached';
  const code = codeOf(error);
  const kind = PASSING.find(([beginning]) => code?.startsWith(beginning))?.[1];
  if (kind) return kind;
  if (isConnectionError(error)) return 'the database cannot be reached';
  const ofSystem = passingFaultOfSystem(rootErrorOf(error));
  if (ofSystem) return ofSystem;
  // Other errors of the driver or of TLS.
  return (isUnavailable(error) || isInDoubt(error)) && rootErrorOf(error) !== error ? 'the database cannot be reached' : null;
}

/**
 * Maps an error of a write: a passing fault becomes `unavailable`, with its cause; nothing was written. Returns all other errors unchanged.
 * `mayRetry` still recognises mapped errors.
 */
export function mapWriteError(error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  return passingFaultOf(error) ? unavailableSince(error) : error;
}

/** Maps an error of a read: as `mapWriteError`, but exceeding the time limit becomes `timeout`. */
export function mapReadError(error: unknown): unknown {
  return isTimeout(error) && !(error instanceof ServiceError) ? serviceError('timeout') : mapWriteError(error);
}

/** Whether a read may be repeated once: its connection, or the coordinator's to a node, was lost, or has forgotten the prepared statement. */
export function mayRetryRead(error: unknown): boolean {
  const isLost = isConnectionError(error) || lostNodeOf(error) !== undefined;
  return (isLost && !isUnavailable(error)) || isStatementForgotten(error);
}
