import type pg from 'pg';
import { serviceError } from '../../../errors/fail.ts';
import { unsentBytes } from '../../../kernel/socket-handle.ts';
import type { Statement } from '../../sql/writer.ts';
import { isAnswer, isConnectionError, isForgotten, isRetyped, NotSent, OutdatedStatement } from './map-error.ts';
import { watchMessages } from './message-size.ts';
import { type Prepared, PreparedStatements, type RecentTexts } from './prepared-statements.ts';
import { type Answer, Deallocation, forgetStatement, Request, type RowsTaken, serverProcessOf } from './request.ts';

export type { Answer };

/** Longest wait for the server to say goodbye, in milliseconds. */
const GOODBYE_MS = 1000;
/** What the protocol counts parameters with. */
const MAX_PARAMS = 65_535;

/** What a link is told of its surroundings. */
export interface PipelinedConnectionSettings {
  /** `null` where statements are not to be kept on the connection. */
  readonly texts: RecentTexts | null;
  /** Milliseconds without any answer after which the connection counts as lost; 0: never. */
  readonly patience: number;
}

/** One connection. Statements are sent at once and answered in order; those of one turn go out together. */
export class PipelinedConnection {
  readonly #client: pg.Client;
  readonly #prepared: PreparedStatements | null;
  #patience: number;
  #underWay = 0;
  #lost: Error | undefined;
  #corked = false;
  #waitingSince = 0;
  #watchdog: NodeJS.Timeout | undefined;
  #isPaused = false;
  #heardAt = performance.now();
  /** Bytes that the system had not taken when it was looked last, and when these became fewer last. */
  #unsent = 0;
  #sentAt = 0;
  /** When the connection was made; by `performance.now()`, as all times here. */
  readonly madeAt = performance.now();
  /** A message came that is too large for memory. */
  #isFlooded = false;
  /** Called once when the connection is lost or ended. */
  onGone: () => void = () => {};

  /** @param client connected, in pipeline mode */
  constructor(client: pg.Client, { texts, patience }: PipelinedConnectionSettings) {
    this.#client = client;
    this.#patience = patience;
    this.#prepared = texts && new PreparedStatements(texts, (name) => this.#forget(name));
    client.on('error', (error) => this.#lose(error));
    client.on('end', () => this.#lose(new Error('Connection terminated')));
    client.connection.stream.prependListener('data', () => {
      this.#heardAt = performance.now();
    });
    watchMessages(client.connection.stream, () => {
      this.#isFlooded = true;
      this.#lose(new Error('Connection terminated: a row is too large'));
    });
  }

  /** Why nothing can be sent any more; `undefined` where it can. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Statements that are not answered yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** When anything came last. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /**
   * For how many milliseconds nothing has come that was asked for; 0 where nothing is to come. What takes its time to be sent may take as
   * long again to arrive.
   */
  get silentFor(): number {
    if (this.#underWay === 0 || this.#isPaused || this.#lost) return 0;
    const now = performance.now();
    const unsent = unsentBytes(this.#client.connection.stream);
    if (unsent !== this.#unsent) this.#sentAt = now;
    this.#unsent = unsent;
    const since = Math.max(this.#heardAt, this.#waitingSince);
    const sending = Math.max(0, this.#sentAt - since);
    return Math.max(0, now - since - 2 * sending);
  }

  /** Whether the session is in no transaction, as of the last answer. */
  get isIdle(): boolean {
    return this.#client.getTransactionStatus() === 'I';
  }

  /** The server process as the connection names it. */
  get processId(): number {
    return serverProcessOf(this.#client);
  }

  onNotification(take: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload }) => take(channel, payload ?? ''));
  }

  /** Another bound for the wait for answers, from now on. */
  setPatience(patience: number): void {
    this.#patience = patience;
    if (patience > 0 && this.#underWay > 0) this.#watch();
  }

  /** @throws Error where a statement cannot be sent; to be asked before the first of several that go together */
  check({ params }: Statement): void {
    if (params.length > MAX_PARAMS) throw tooMany(params.length);
  }

  /**
   * Sends a statement.
   * @param keep whether it may be, or become, one that is prepared
   * @throws the database's error, or the driver's where the connection is lost; NotShort; resultTooLarge for a row that memory should not hold
   */
  query(statement: Statement, keep = true, taken: RowsTaken = {}): Promise<Answer> {
    const { text, params } = statement;
    if (params.length > MAX_PARAMS) return Promise.reject(tooMany(params.length));
    return this.#send(text, params, keep ? this.#prepared?.of(text) : undefined, taken);
  }

  /** Sends SQL without values, several statements too; none of it is kept. */
  command(text: string, taken: RowsTaken = {}): Promise<Answer> {
    return this.#send(text, [], undefined, taken);
  }

  /** Reads nothing more for now: the server waits. For a caller that has the connection to itself. */
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

  #send(text: string, params: Statement['params'], prepared: Prepared | undefined, taken: RowsTaken): Promise<Answer> {
    if (this.#lost) return Promise.reject(new NotSent(this.#lost));
    return new Promise((resolve, reject) => {
      this.#sent();
      const settle = {
        resolve: (answer: Answer) => {
          this.#answered();
          if (prepared) prepared.isProven = true;
          resolve(answer);
        },
        reject: (reason: Error) => {
          this.#answered();
          if (this.#isFlooded && request.isAnswering) {
            reject(serviceError('resultTooLarge'));
            return;
          }
          const error = prepared?.isProven && isRetyped(reason) ? new OutdatedStatement(reason) : reason;
          if (prepared && isForgotten(error)) this.#prepared?.drop(text, prepared);
          const isLost = isConnectionError(error);
          if (isLost) this.#lose(error);
          // The server ended the session after it: what it did by itself may have been committed.
          const isEndedAfter = isLost && request.isDone && !isAnswer(error);
          reject(isEndedAfter ? new Error(`Connection terminated after it was done: ${error.message}`) : error);
        },
      };
      const request: Request = new Request(text, params, prepared?.name, settle, taken);
      this.#client.query(request);
    });
  }

  /**
   * Has the connection prove that it is alive; it is cut where it does not within so many milliseconds. Resolves when that is known.
   * Statements under way are answered first.
   */
  async prove(patience: number): Promise<void> {
    const asked = performance.now();
    const timer = setTimeout(() => {
      // Answers may be there that were not read, where this process itself stood still.
      setImmediate(() => {
        if (this.#heardAt < asked) this.#lose(new Error('Connection terminated: no sign of life'));
      });
    }, patience);
    await this.command('SELECT 1').catch(() => {});
    clearTimeout(timer);
  }

  /** Says goodbye once all is answered. Resolves when the connection is gone. */
  async end(): Promise<void> {
    if (this.#lost) return;
    const timer = setTimeout(() => this.destroy(), GOODBYE_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(timer);
    this.#lose(new Error('Connection terminated'));
  }

  /** Cuts the connection; all that is under way fails. */
  destroy(reason = new Error('Connection terminated')): void {
    this.#lose(reason);
  }

  #sent(): void {
    if (this.#underWay === 0) this.#waitingSince = performance.now();
    this.#underWay += 1;
    if (this.#patience > 0 && !this.#watchdog) this.#watch();
    if (this.#corked) return;
    this.#corked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }

  #answered(): void {
    this.#underWay -= 1;
    this.#waitingSince = performance.now();
  }

  /** Looks from time to time whether answers still come: a server whose machine is gone closes nothing. */
  #watch(): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(
      () => {
        this.#watchdog = undefined;
        if (this.#underWay === 0 || this.#patience === 0) return;
        if (this.#isPaused) this.#waitingSince = performance.now();
        // Answers may be there that were not read, where this process itself stood still.
        setImmediate(() => {
          if (this.#lost || this.#underWay === 0 || this.#patience === 0) return;
          if (performance.now() - this.#waitingSince < this.#patience) this.#watch();
          else this.#lose(new Error('Connection terminated: no answer in time'));
        });
      },
      Math.max(100, this.#waitingSince + this.#patience - performance.now()),
    );
    this.#watchdog.unref();
  }

  #forget(name: string): void {
    if (this.#lost) return;
    this.#sent();
    this.#client.query(
      new Deallocation(name, () => {
        this.#answered();
        forgetStatement(this.#client, name);
      }),
    );
  }

  #lose(error: Error): void {
    if (this.#lost) return;
    this.#lost = error;
    clearTimeout(this.#watchdog);
    // The driver fails what is under way when the socket closes.
    this.#client.connection.stream.destroy();
    this.onGone();
  }
}

function tooMany(params: number): Error {
  return new Error(`${params} parameters are too many`);
}
