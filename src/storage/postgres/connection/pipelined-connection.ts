import type pg from 'pg';
import { serviceError } from '../../../errors/fail.ts';
import { unsentBytes } from '../../../kernel/socket-handle.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { isConnectionError, isRetyped, isStatementError, isStatementForgotten, NotSent, OutdatedStatement } from './map-error.ts';
import { watchMessages } from './message-size.ts';
import { markLostNode, NodeUnanswered, restoreCode } from './node-errors.ts';
import { type Prepared, PreparedStatements, type RecentTexts } from './prepared-statements.ts';
import { type Answer, Deallocation, forgetStatement, Request, type RowOptions, serverProcessOf } from './request.ts';

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
  #answerTimeoutMs: number;
  #pending = 0;
  #lost: Error | undefined;
  #corked = false;
  #waitingSince = 0;
  #watchdog: NodeJS.Timeout | undefined;
  #isPaused = false;
  #lastReceivedAt = performance.now();
  /** Bytes that the operating system had not yet accepted at the last check, and when that number last changed. */
  #unsent = 0;
  #sentAt = 0;
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
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#prepared = texts && new PreparedStatements(texts, (name) => this.#forget(name));
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
    if (this.#pending === 0 || this.#isPaused || this.#lost) return 0;
    const now = performance.now();
    const unsent = unsentBytes(this.#client.connection.stream);
    if (unsent !== this.#unsent) this.#sentAt = now;
    this.#unsent = unsent;
    const since = Math.max(this.#lastReceivedAt, this.#waitingSince);
    const sending = Math.max(0, this.#sentAt - since);
    return Math.max(0, now - since - 2 * sending);
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
    this.#answerTimeoutMs = answerTimeoutMs;
    if (answerTimeoutMs > 0 && this.#pending > 0) this.#startWatchdog();
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
    const { text, params } = statement;
    if (params.length > MAX_PARAMS) return Promise.reject(tooMany(params.length));
    return this.#send(text, params, keep ? this.#prepared?.of(text) : undefined, options);
  }

  /** Sends SQL without parameters, possibly several statements. Never prepared. */
  command(text: string, options: RowOptions = {}): Promise<Answer> {
    return this.#send(text, [], undefined, options);
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
    this.#waitingSince = performance.now();
    this.#client.connection.stream.resume();
  }

  #send(text: string, params: Statement['params'], prepared: Prepared | undefined, options: RowOptions): Promise<Answer> {
    if (this.#lost) return Promise.reject(new NotSent(this.#lost));
    return new Promise((resolve, reject) => {
      this.#onSend();
      const settle = {
        resolve: (answer: Answer) => {
          this.#onAnswer();
          if (prepared) prepared.isProven = true;
          resolve(answer);
        },
        reject: (reason: Error) => {
          this.#onAnswer();
          if (this.#isOversized && request.isAnswering) {
            reject(serviceError('resultTooLarge'));
            return;
          }
          if (this.isCoordinator) restoreCode(markLostNode(reason));
          const cause = this.#lost instanceof NodeUnanswered ? this.#lost : reason;
          const error = prepared?.isProven && isRetyped(cause) ? new OutdatedStatement(cause) : cause;
          if (prepared && isStatementForgotten(error)) this.#prepared?.drop(text, prepared);
          const isLost = isConnectionError(error);
          if (isLost) this.#markLost(error);
          // The statement was done before the server ended the session, so a single statement may have been committed.
          const isEndedAfter = isLost && request.isDone && !isStatementError(error);
          reject(isEndedAfter ? new Error(`Connection terminated after it was done: ${error.message}`) : error);
        },
      };
      const request: Request = new Request(text, params, prepared?.name, settle, options);
      this.#client.query(request);
    });
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
    if (this.#pending === 0) this.#waitingSince = performance.now();
    this.#pending += 1;
    if (this.#answerTimeoutMs > 0 && !this.#watchdog) this.#startWatchdog();
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
    this.#waitingSince = performance.now();
  }

  /** Checks periodically whether answers still arrive: a server whose machine is gone closes nothing. */
  #startWatchdog(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(
      () => {
        this.#watchdog = undefined;
        if (this.#pending === 0 || this.#answerTimeoutMs === 0) return;
        if (this.#isPaused) this.#waitingSince = performance.now();
        // Check after pending input: after a stall of this process, answers may have arrived unread.
        setImmediate(() => {
          if (this.#lost || this.#pending === 0 || this.#answerTimeoutMs === 0) return;
          if (performance.now() - this.#waitingSince < this.#answerTimeoutMs) this.#startWatchdog();
          else this.#markLost(new Error('Connection terminated: no answer in time'));
        });
      },
      Math.max(100, this.#waitingSince + this.#answerTimeoutMs - performance.now()),
    );
    this.#watchdog.unref();
  }

  #forget(name: string): void {
    if (this.#lost) return;
    this.#onSend();
    this.#client.query(
      new Deallocation(name, () => {
        this.#onAnswer();
        forgetStatement(this.#client, name);
      }),
    );
  }

  #markLost(error: Error): void {
    if (this.#lost) return;
    this.#lost = error;
    clearTimeout(this.#watchdog);
    // The driver rejects pending statements when the socket closes.
    this.#client.connection.stream.destroy();
    this.onLost();
  }
}

function tooMany(params: number): Error {
  return new Error(`${params} parameters are too many`);
}
