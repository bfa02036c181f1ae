import type { Statement } from '../../sql/writer.ts';
import { limitsSql, patienceFor, type TransactionLimits } from './connect.ts';
import type { Result, Session, TransactionOptions } from './database.ts';
import {
  CommitUnknown,
  isAnswer,
  isConnectionError,
  isEndedByServer,
  NotSent,
  ofWrite,
  StatementFailed,
  unavailable,
} from './map-error.ts';
import type { Answer, PipelinedConnection } from './pipelined-connection.ts';
import type { RowsTaken } from './request.ts';

/** In a transaction that has failed before. */
const IN_FAILED_TRANSACTION = '25P02';

/** Limits as SQL says them: of what is asked for, and of locks in any case, which the session's own is not for. */
export function limitsOf({ timeLimit, lockLimit = 0, idleLimit }: TransactionOptions): TransactionLimits {
  return {
    ...(timeLimit === undefined ? {} : { statement: timeLimit }),
    lock: lockLimit,
    ...(idleLimit === undefined ? {} : { idle: idleLimit }),
  };
}

/**
 * One transaction, all of it sent before anything is answered. A single statement is one by itself.
 * @param limits said within the transaction; none where the session has them
 * @param keep whether statements may be prepared ones
 * @throws StatementFailed; CommitUnknown; unavailable where the connection was lost before the commit
 */
export async function runAtomically(
  link: PipelinedConnection,
  statements: readonly Statement[],
  limits: TransactionLimits,
  keep = true,
): Promise<Result[]> {
  for (const statement of statements) link.check(statement);
  const bare = statements.length === 1 && Object.keys(limits).length === 0;
  const sent: Promise<Answer>[] = bare ? [] : [link.command(`BEGIN ISOLATION LEVEL READ COMMITTED${limitsSql(limits)}`)];
  for (const statement of statements) sent.push(link.query(statement, keep));
  if (!bare) sent.push(link.command('COMMIT'));

  const settled = await Promise.allSettled(sent);
  const at = settled.findIndex((outcome) => outcome.status === 'rejected' && codeOf(outcome.reason) !== IN_FAILED_TRANSACTION);
  const before = bare ? 0 : 1;
  if (at >= 0) {
    const { reason } = settled[at] as PromiseRejectedResult;
    if (!isConnectionError(reason)) throw new StatementFailed(Math.max(0, at - before), ofWrite(reason));
    throw isUndone(reason, bare || at < settled.length - 1) ? unavailable(reason) : new CommitUnknown(reason);
  }
  const answers = settled.map((outcome) => (outcome as PromiseFulfilledResult<Answer>).value);
  if (bare) return answers;
  if (answers.at(-1)?.command !== 'COMMIT')
    throw new StatementFailed(statements.length, new Error('the transaction was rolled back'));
  return answers.slice(1, -1);
}

/**
 * A transaction that decides on the way.
 * @param limits as with `runAtomically`
 * @throws what `work` throws; CommitUnknown
 */
export async function runTransaction<T>(
  link: PipelinedConnection,
  work: (session: Session) => Promise<T>,
  limits: TransactionLimits,
): Promise<T> {
  const begun = link.command(`BEGIN ISOLATION LEVEL READ COMMITTED${limitsSql(limits)}`);
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
    throw isConnectionError(error) && !isUndone(error, false) ? new CommitUnknown(error) : ofWrite(error);
  }
  if (commit.command !== 'COMMIT') throw new Error('a statement of the transaction failed, and it was rolled back');
  return value as T;
}

/** Statements by themselves. */
export async function runAlone<T>(link: PipelinedConnection, work: (session: Session) => Promise<T>): Promise<T> {
  const { value, failure } = await inSession(link, work, Promise.resolve(), (error) =>
    isConnectionError(error) && !isUndone(error, true) ? new CommitUnknown(error) : ofWrite(error),
  );
  if (failure) throw failure.error;
  return value as T;
}

async function inSession<T>(
  link: PipelinedConnection,
  work: (session: Session) => Promise<T>,
  begun: Promise<unknown>,
  seen: (error: unknown) => unknown = ofWrite,
): Promise<{ value?: T; failure?: { error: unknown } }> {
  let open = true;
  const session: Session = {
    async query(statement) {
      if (!open) throw new Error('the session has ended');
      try {
        return await link.query(statement);
      } catch (error) {
        throw seen(error);
      }
    },
  };
  try {
    const value = await work(session);
    await begun;
    return { value };
  } catch (error) {
    return { failure: { error: ofWrite(error) } };
  } finally {
    open = false;
  }
}

/** A read with limits of its own, where the session has none. */
export async function runRead(
  link: PipelinedConnection,
  statement: Statement,
  limits: TransactionLimits,
  keep = true,
  taken: RowsTaken = {},
): Promise<Result> {
  if (Object.keys(limits).length === 0) return link.query(statement, keep, taken);
  link.check(statement);
  const [begun, answer, ended] = await Promise.allSettled([
    link.command(`BEGIN READ ONLY${limitsSql(limits)}`),
    link.query(statement, keep, taken),
    link.command('COMMIT'),
  ]);
  for (const outcome of [begun, answer, ended]) if (outcome.status === 'rejected') throw outcome.reason;
  return (answer as PromiseFulfilledResult<Answer>).value;
}

/** Has the link wait for answers as long as the limit asks for. */
export function bePatient(link: PipelinedConnection, timeLimit: number): void {
  link.setPatience(patienceFor(timeLimit));
}

/**
 * Whether what was sent has not taken effect, though the session has ended: the server said no, or ended the session before it came to the
 * commit. A pooler may have missed answers.
 * @param isBefore whether that is about a statement before the commit, or about one whose end had not come, which would be the commit
 */
function isUndone(error: unknown, isBefore: boolean): boolean {
  return error instanceof NotSent || isAnswer(error) || (isBefore && isEndedByServer(error));
}

function codeOf(error: unknown): string | undefined {
  return (error as { readonly code?: string }).code;
}
