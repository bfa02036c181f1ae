import type { Statement } from '../../sql/sql-writer.ts';
import { answerTimeoutFor, limitsSql, type TransactionLimits } from './connect.ts';
import type { Result, Session, TransactionOptions } from './database.ts';
import {
  CommitUnknown,
  isConnectionError,
  isEndedByServer,
  isStatementError,
  lostNodeOf,
  mapWriteError,
  NotSent,
  StatementFailed,
  unavailable,
} from './map-error.ts';
import type { Answer, PipelinedConnection } from './pipelined-connection.ts';
import type { RowOptions } from './request.ts';

/** SQLSTATE of statements in a transaction that has already failed. */
const IN_FAILED_TRANSACTION = '25P02';

/** Converts options into limits of a transaction. Always sets the lock limit, because the session's default is meant for other transactions. */
export function limitsOf({ timeLimit, lockLimit = 0, idleLimit }: TransactionOptions): TransactionLimits {
  return {
    ...(timeLimit === undefined ? {} : { statement: timeLimit }),
    lock: lockLimit,
    ...(idleLimit === undefined ? {} : { idle: idleLimit }),
  };
}

/**
 * Runs one transaction and sends all of it before any answer arrives. Without limits it needs no BEGIN and COMMIT, except on a coordinator: if it
 * lost the node during a statement, that may have been committed there.
 * @param limits set within the transaction; empty if the session has them
 * @param keep whether prepared statements may be used
 * @throws StatementFailed; CommitUnknown; unavailable if the connection was lost before the commit
 */
export async function runAtomically(
  link: PipelinedConnection,
  statements: readonly Statement[],
  limits: TransactionLimits,
  keep = true,
): Promise<Result[]> {
  for (const statement of statements) link.check(statement);
  if (Object.keys(limits).length === 0 && !link.isCoordinator)
    return link.transaction(statements, keep).catch((error: StatementFailed) => {
      throw failureOf(error.cause, error.index, true);
    });
  const sent = begin(link, limits);
  const before = sent.length;
  for (const statement of statements) sent.push(link.query(statement, keep));
  sent.push(link.command('COMMIT'));

  const settled = await Promise.allSettled(sent);
  const at = settled.findIndex((outcome) => outcome.status === 'rejected' && codeOf(outcome.reason) !== IN_FAILED_TRANSACTION);
  if (at >= 0) {
    const { reason } = settled[at] as PromiseRejectedResult;
    if (at === settled.length - 1 && failedWhileCommitting(link, reason)) throw new CommitUnknown(reason);
    throw failureOf(reason, Math.max(0, at - before), at < settled.length - 1);
  }
  const answers = settled.map((outcome) => (outcome as PromiseFulfilledResult<Answer>).value);
  if (answers.at(-1)?.command !== 'COMMIT')
    throw new StatementFailed(statements.length, new Error('the transaction was rolled back'));
  return answers.slice(before, -1);
}

/**
 * Returns the error of a transaction.
 * @param reason error of the statement at `index`; of the commit after the last one
 * @param isBefore as in `isUndone`
 */
function failureOf(reason: unknown, index: number, isBefore: boolean): Error {
  if (!isConnectionError(reason)) return new StatementFailed(index, mapWriteError(reason));
  return isUndone(reason, isBefore) ? unavailable(reason) : new CommitUnknown(reason);
}

/**
 * Begins a transaction with its limits. A coordinator passes on to the node the text of the command with which a limit comes, so there each has a
 * command of its own.
 */
function begin(link: PipelinedConnection, limits: TransactionLimits): Promise<Answer>[] {
  const commands = `BEGIN ISOLATION LEVEL READ COMMITTED${limitsSql(limits)}`;
  return (link.isCoordinator ? commands.split('; ') : [commands]).map((command) => link.command(command));
}

/**
 * Runs an interactive transaction.
 * @param limits as in `runAtomically`
 * @throws what `work` throws; CommitUnknown
 */
export async function runTransaction<T>(
  link: PipelinedConnection,
  work: (session: Session) => Promise<T>,
  limits: TransactionLimits,
): Promise<T> {
  const begun = Promise.all(begin(link, limits));
  begun.catch(() => {});
  const { value, failure } = await inSession(link, work, begun);
  if (failure) {
    if (!link.lost) await link.command('ROLLBACK').catch(() => link.destroy());
    throw failure.error;
  }
  let commit: Answer;
  try {
    commit = await link.command('COMMIT');
  } catch (error) {
    const isUnknown = failedWhileCommitting(link, error) || (isConnectionError(error) && !isUndone(error, false));
    throw isUnknown ? new CommitUnknown(error) : mapWriteError(error);
  }
  if (commit.command !== 'COMMIT') throw new Error('a statement of the transaction failed, and it was rolled back');
  return value as T;
}

/** Runs statements outside any transaction. */
export async function runStatements<T>(link: PipelinedConnection, work: (session: Session) => Promise<T>): Promise<T> {
  const { value, failure } = await inSession(link, work, Promise.resolve(), (error) => {
    const isUnknown = lostNodeOf(error) !== undefined || (isConnectionError(error) && !isUndone(error, true));
    return isUnknown ? new CommitUnknown(error) : mapWriteError(error);
  });
  if (failure) throw failure.error;
  return value as T;
}

async function inSession<T>(
  link: PipelinedConnection,
  work: (session: Session) => Promise<T>,
  begun: Promise<unknown>,
  mapError: (error: unknown) => unknown = mapWriteError,
): Promise<{ value?: T; failure?: { error: unknown } }> {
  let open = true;
  const session: Session = {
    async query(statement) {
      if (!open) throw new Error('the session has ended');
      try {
        return await link.query(statement);
      } catch (error) {
        throw mapError(error);
      }
    },
  };
  try {
    const value = await work(session);
    await begun;
    return { value };
  } catch (error) {
    return { failure: { error: mapWriteError(error) } };
  } finally {
    open = false;
  }
}

/** Runs a read, in a transaction if limits must be set. */
export async function runRead(
  link: PipelinedConnection,
  statement: Statement,
  limits: TransactionLimits,
  keep = true,
  options: RowOptions = {},
): Promise<Result> {
  if (Object.keys(limits).length === 0) return link.query(statement, keep, options);
  link.check(statement);
  const [begun, answer, ended] = await Promise.allSettled([
    link.command(`BEGIN READ ONLY${limitsSql(limits)}`),
    link.query(statement, keep, options),
    link.command('COMMIT'),
  ]);
  for (const outcome of [begun, answer, ended]) if (outcome.status === 'rejected') throw outcome.reason;
  return (answer as PromiseFulfilledResult<Answer>).value;
}

/** Sets the answer timeout of a connection to suit a statement time limit. */
export function setAnswerTimeout(link: PipelinedConnection, timeLimit: number): void {
  link.setAnswerTimeout(answerTimeoutFor(timeLimit));
}

/**
 * Whether an error of COMMIT leaves the outcome unknown although the session goes on: a coordinator commits on the node first, and reports any
 * failure, also the loss of the node's answer, as an error of its own commit.
 */
function failedWhileCommitting(link: PipelinedConnection, error: unknown): boolean {
  return link.isCoordinator && !(error instanceof NotSent);
}

/**
 * Whether what was sent has not taken effect although the session has ended: the server rejected it, or ended the session before it reached the
 * commit. Answers may have been lost in a pooler.
 * @param isBefore whether the error belongs to a statement before the commit, or to a single statement that was not finished (which is itself the
 * commit)
 */
function isUndone(error: unknown, isBefore: boolean): boolean {
  return error instanceof NotSent || isStatementError(error) || (isBefore && isEndedByServer(error));
}

function codeOf(error: unknown): string | undefined {
  return (error as { readonly code?: string }).code;
}
