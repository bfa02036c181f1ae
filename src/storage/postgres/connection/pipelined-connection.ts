import type pg from 'pg';
import { serviceError } from '../../../errors/fail.ts';
import { unsentBytes } from '../../../kernel/socket-handle.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { AnswerWatchdog } from './answer-watchdog.ts';
import {
  isConnectionError,
  isRetyped,
  isStatementError,
  isStatementForgotten,
  NotSent,
  OutdatedStatement,
  StatementFailed,
} from './map-error.ts';
import { watchMessages } from './message-size.ts';
import { markLostNode, NodeUnanswered, restoreCode } from './node-errors.ts';
import { PreparedStatements, type RecentTexts } from './prepared-statements.ts';
import { type Answer, Deallocation, Request, type RowOptions, type Sendable, serverProcessOf } from './request.ts';

export type { Answer };

/** Maximum wait for the server to close the connection, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1000;
/** Maximum of the protocol's 16-bit parameter count. */
const MAX_PARAMS = 65_535;

/** Settings of a connection. */
export interface PipelinedConnectionSettings {
  /** Recently sent texts; `null` if statements are not to be prepared. */
  readonly texts: RecentTexts | null;
  /** Milliseconds without any answer after which the connection counts as lost; 0: never. */
  readonly answerTimeoutMs: number;
  /** As in `Address`. Default: false. */
  readonly isCoordinator?: boolean;
}

/** One connection. Statements are sent immediately and answered in order; those of one turn of the event loop go out together. */
export class PipelinedConnection {
  readonly #client: pg.Client;
  readonly #prepared: PreparedStatements | null;
  /** Prepared statements to deallocate, after the next statements: these may be among them. */
  readonly #forgotten: string[] = [];
  readonly #watchdog: AnswerWatchdog;
  #pending = 0;
  #lost: Error | undefined;
  #corked = false;
  #isPaused = false;
  #lastReceivedAt = performance.now();
  /** As in `Address`. */
  readonly isCoordinator: boolean;
  /** When the connection was opened, by `performance.now()`, as all times here. */
  readonly connectedAt = performance.now();
  /** A message is too large for memory. */
  #isOversized = false;
  /** PostgreSQL schema of the system whose work it does, if that is known. */
  system: string | undefined;
  /** Called once when the connection is lost or ended. */
  onLost: () => void = () => {};

  /** @param client connected, in pipeline mode */
  constructor(client: pg.Client, { texts, answerTimeoutMs, isCoordinator = false }: PipelinedConnectionSettings) {
    this.#client = client;
    this.isCoordinator = isCoordinator;
    const activity = () => (this.#pending === 0 || this.#lost ? 'idle' : this.#isPaused ? 'paused' : 'waiting');
    this.#watchdog = new AnswerWatchdog(answerTimeoutMs, activity, () =>
      this.#markLost(new Error('Connection terminated: no answer in time')),
    );
    this.#prepared = texts && new PreparedStatements(texts, (name) => this.#forgotten.push(name));
    client.on('error', (error) => this.#markLost(error));
    client.on('end', () => this.#markLost(new Error('Connection terminated')));
    client.connection.stream.prependListener('data', () => {
      this.#lastReceivedAt = performance.now();
    });
    watchMessages(client.connection.stream, () => {
      this.#isOversized = true;
      this.#markLost(new Error('Connection terminated: a row is too large'));
    });
  }

  /** Why nothing can be sent any more; `undefined` while the connection works. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Number of statements not answered yet. */
  get pending(): number {
    return this.#pending;
  }

  /** When data last arrived. */
  get lastReceivedAt(): number {
    return this.#lastReceivedAt;
  }

  /**
   * Milliseconds for which an expected answer has not arrived; 0 if none is expected. Time spent sending counts twice, since what takes long to
   * send may take as long again to arrive.
   */
  get silentFor(): number {
    return this.#watchdog.silentFor(this.#lastReceivedAt, unsentBytes(this.#client.connection.stream));
  }

  /** Whether the session was outside any transaction at the last answer. */
  get isIdle(): boolean {
    return this.#client.getTransactionStatus() === 'I';
  }

  /** Process id of the server, as the connection reports it. */
  get processId(): number {
    return serverProcessOf(this.#client);
  }

  onNotification(take: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload }) => take(channel, payload ?? ''));
  }

  /** Changes the answer timeout. */
  setAnswerTimeout(answerTimeoutMs: number): void {
    this.#watchdog.timeoutMs = answerTimeoutMs;
  }

  /** Checks a statement; call it before sending several that belong together. @throws Error if a statement cannot be sent */
  check({ params }: Statement): void {
    if (params.length > MAX_PARAMS) throw tooMany(params.length);
  }

  /**
   * Sends a statement.
   * @param keep whether a prepared statement may be used or created
   * @throws the database's error, or the driver's if the connection is lost; TooLong; resultTooLarge for an oversized row
   */
  query(statement: Statement, keep = true, options: RowOptions = {}): Promise<Answer> {
    if (statement.params.length > MAX_PARAMS) return Promise.reject(tooMany(statement.params.length));
    return this.#send([this.#sendable(statement, keep)], ([answer]) => answer as Answer, options);
  }

  /**
   * Sends statements that are one transaction, which commits as soon as all of them are done; with the session's isolation and limits.
   * @param keep as in `query`
   * @throws StatementFailed with what `query` throws, and the number of statements done before
   */
  transaction(statements: readonly Statement[], keep = true): Promise<Answer[]> {
    const all = statements.map((statement) => this.#sendable(statement, keep));
    return this.#send(
      all,
      (answers) => answers,
      {},
      (error, done) => new StatementFailed(done, error),
    );
  }

  /** Sends SQL without parameters, possibly several statements. Never prepared. */
  command(text: string, options: RowOptions = {}): Promise<Answer> {
    return this.#send([{ text, params: [], prepared: undefined }], (answers) => answers.at(-1) as Answer, options);
  }

  /** Stops reading, so that the server waits (back-pressure). Only for exclusive users of the connection. */
  pause(): void {
    if (this.#isPaused || this.#lost) return;
    this.#isPaused = true;
    this.#client.connection.stream.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#watchdog.waitingSince = performance.now();
    this.#client.connection.stream.resume();
  }

  #sendable({ text, params }: Statement, keep: boolean): Sendable {
    return { text, params, prepared: keep ? this.#prepared?.of(text) : undefined };
  }

  #send<T>(
    statements: readonly Sendable[],
    answerOf: (answers: Answer[]) => T,
    options: RowOptions,
    failureOf: (error: unknown, done: number) => unknown = (error) => error,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = {
        resolve: () => {
          this.#onAnswer();
          resolve(answerOf(request.answers));
        },
        reject: (reason: Error) => {
          this.#onAnswer();
          reject(failureOf(this.#errorOf(request, reason), request.answers.length));
        },
      };
      const request: Request = new Request(statements, settle, options);
      if (this.#lost) {
        reject(failureOf(new NotSent(this.#lost), 0));
        return;
      }
      this.#onSend();
      this.#client.query(request);
      this.#deallocate();
    });
  }

  /** Returns the error for the caller of a failed request. */
  #errorOf({ current }: Request, reason: Error): unknown {
    if (this.#isOversized) {
      // The connection is lost, and the driver fails first the request whose rows were arriving.
      this.#isOversized = false;
      return serviceError('resultTooLarge');
    }
    if (this.isCoordinator) restoreCode(markLostNode(reason));
    const cause = this.#lost instanceof NodeUnanswered ? this.#lost : reason;
    const prepared = current?.prepared;
    const error = prepared?.parsers && isRetyped(cause) ? new OutdatedStatement(cause) : cause;
    if (prepared && isStatementForgotten(error)) this.#prepared?.drop(current.text, prepared);
    this.#deallocate();
    if (!isConnectionError(error)) return error;
    this.#markLost(error);
    // The statements were done before the server ended the session, so they may have been committed.
    if (current || isStatementError(error)) return error;
    return new Error(`Connection terminated after it was done: ${error.message}`);
  }

  /**
   * Pings the connection and destroys it if no data arrives within `timeoutMs`. Resolves when the result is known. Pending statements are answered
   * first.
   */
  async ping(timeoutMs: number): Promise<void> {
    const sentAt = performance.now();
    const timer = setTimeout(() => {
      // Check after pending input: after a stall of this process, answers may have arrived unread.
      setImmediate(() => {
        if (this.#lastReceivedAt < sentAt) this.#markLost(new Error('Connection terminated: no sign of life'));
      });
    }, timeoutMs);
    await this.command('SELECT 1').catch(() => {});
    clearTimeout(timer);
  }

  /** Closes the connection after all answers. Resolves when it is closed. */
  async end(): Promise<void> {
    if (this.#lost) return;
    const timer = setTimeout(() => this.destroy(), CLOSE_TIMEOUT_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
    this.#markLost(new Error('Connection terminated'));
  }

  /** Destroys the connection; all pending statements fail. */
  destroy(reason = new Error('Connection terminated')): void {
    this.#markLost(reason);
  }

  #onSend(): void {
    if (this.#pending === 0) this.#watchdog.waitingSince = performance.now();
    this.#pending += 1;
    this.#watchdog.start();
    if (this.#corked) return;
    this.#corked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }

  #onAnswer(): void {
    this.#pending -= 1;
    this.#watchdog.waitingSince = performance.now();
  }

  #deallocate(): void {
    for (const name of this.#forgotten.splice(0)) {
      if (this.#lost) return;
      this.#onSend();
      this.#client.query(new Deallocation(name, () => this.#onAnswer()));
    }
  }

  #markLost(error: Error): void {
    if (this.#lost) return;
    this.#lost = error;
    this.#watchdog.stop();
    // The driver rejects pending statements when the socket closes.
    this.#client.connection.stream.destroy();
    this.onLost();
  }
}

function tooMany(params: number): Error {
  return new Error(`${params} parameters are too many`);
}
