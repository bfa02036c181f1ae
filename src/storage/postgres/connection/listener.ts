import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { quoted } from '../../sql/sql-writer.ts';
import { connectedClient, sessionName } from './connect.ts';
import type { Database } from './database.ts';
import { PipelinedConnection } from './pipelined-connection.ts';

/** Interval of heartbeat queries, and the timeout of their answers, in milliseconds. */
const HEARTBEAT_INTERVAL_MS = 250;
const HEARTBEAT_TIMEOUT_MS = 1000;
/** Milliseconds after a heartbeat for which notifications count as reliable. */
const RELIABLE_FOR_MS = 500;
/** Timeout for the listener's own test notification, in milliseconds. */
const TEST_TIMEOUT_MS = 2000;
/** Milliseconds until notifications are tested again after they have failed. */
const RETEST_DELAY_MS = 30_000;
/** Interval of heartbeats while notifications fail, in milliseconds. */
const SLOW_HEARTBEAT_INTERVAL_MS = 2000;
/** Makes the server notice within about ten seconds that this machine is gone without closing the connection. */
const KEEPALIVE_SQL =
  'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000';
/** Delays between attempts to connect. */
const MIN_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 500;
/** Prefix of test notifications that a listener sends to itself. */
const TEST_PREFIX = '~test:';

/** Notifications do not arrive, for example because of a pooler. */
class NotificationsBlocked extends Error {}

/** Statements that take a lock, which shows other processes that this one is alive. */
export interface LivenessSql {
  readonly forSession: string;
  readonly forTransaction: string;
}

/** Settings and callbacks of a listener. */
export interface ListenerSettings {
  readonly channel: string;
  /** `application_name` of its session. */
  readonly name?: string | undefined;
  /** If given, the listener's session marks this process as alive. */
  readonly liveness?: LivenessSql;
  /** Called once if notifications do not arrive. */
  report(fault: string): void;
  onNotification(payload: string): void;
  /** Notifications are reliable from now on. Earlier ones may have been lost, so everything in memory must be checked. */
  onReliable?(): void;
  /** The connection was lost: notifications are lost from now on. */
  onUnreliable?(): void;
}

/** Receives the notifications of a channel on a dedicated connection, which is reopened whenever it is lost. */
export class Listener {
  readonly #url: string;
  readonly #database: Database;
  readonly #settings: ListenerSettings;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #isReliable = false;
  /** Whether the last attempt to connect succeeded. */
  #isConnected = false;
  /** When the last answered heartbeat was sent, by `performance.now()`. */
  #lastHeartbeatAt = 0;
  #warned = false;

  /** @param database sends the test notifications */
  constructor(url: string, database: Database, settings: ListenerSettings) {
    this.#url = url;
    this.#database = database;
    this.#settings = settings;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Whether every notification sent up to half a second ago has arrived. */
  isReliable(): boolean {
    return this.#isReliable && performance.now() - this.#lastHeartbeatAt <= RELIABLE_FOR_MS;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let pause = 0; !signal.aborted; ) {
      const heard = this.#lastHeartbeatAt;
      try {
        await this.#listen();
      } catch (error) {
        // What broke this connection may have broken the others without notice.
        if (this.#isConnected && !signal.aborted && !(error instanceof NotificationsBlocked)) this.#database.suspect();
        const failed = Math.min(MAX_RETRY_DELAY_MS, pause * 2 || MIN_RETRY_DELAY_MS);
        const retest = this.#settings.liveness ? MIN_RETRY_DELAY_MS : RETEST_DELAY_MS;
        pause = error instanceof NotificationsBlocked ? retest : this.#lastHeartbeatAt > heard ? MIN_RETRY_DELAY_MS : failed;
      }
      if (this.#isReliable) {
        this.#isReliable = false;
        this.#settings.onUnreliable?.();
      }
      await sleep(pause, signal);
    }
  }

  /** Listens until the connection is lost or the listener is closed. @throws always */
  async #listen(): Promise<never> {
    const { signal } = this.#closing;
    const address = { url: this.#url, pooled: true, isCoordinator: false, name: this.#settings.name ?? sessionName };
    const connecting = new Set<pg.Client>();
    const stop = () => {
      for (const client of connecting) client.connection.stream.destroy();
    };
    signal.addEventListener('abort', stop);
    this.#isConnected = false;
    try {
      signal.throwIfAborted();
      const client = await connectedClient(address, { statement: 0, lock: 0 }, connecting);
      connecting.add(client);
      signal.throwIfAborted();
      this.#isConnected = true;
      const link = new PipelinedConnection(client, { texts: null, answerTimeoutMs: HEARTBEAT_TIMEOUT_MS });
      await this.#startListening(link).catch((error) => this.#holdLiveness(link, error));
      for (;;) {
        const sentAt = performance.now();
        await link.command('SELECT 1');
        this.#lastHeartbeatAt = sentAt;
        if (!this.#isReliable) {
          this.#isReliable = true;
          this.#settings.onReliable?.();
        }
        await sleep(HEARTBEAT_INTERVAL_MS, signal);
        signal.throwIfAborted();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** Starts listening, and tests that notifications arrive. @throws NotificationsBlocked if they do not */
  async #startListening(link: PipelinedConnection): Promise<void> {
    const { channel, liveness } = this.#settings;
    const token = TEST_PREFIX + randomUUID();
    const heard = Promise.withResolvers<void>();
    link.onNotification((_, payload) => {
      if (payload === token) heard.resolve();
      else if (!payload.startsWith(TEST_PREFIX)) this.#settings.onNotification(payload);
    });
    // Poolers invent process ids. Never LISTEN through one: the next user of the server session would get the notifications.
    const { rows } = await link.command('SELECT pg_backend_pid()');
    if (rows[0]?.[0] !== link.processId) throw new NotificationsBlocked();
    await link.command(`LISTEN ${quoted(channel)}`);
    await this.#database.short({ text: 'SELECT pg_notify($1, $2)', params: [channel, token] });
    const timer = setTimeout(async () => {
      // A dead connection also delivers nothing: tell the two apart.
      await link.command('SELECT 1').catch(() => {});
      heard.reject(link.lost ?? new NotificationsBlocked());
    }, TEST_TIMEOUT_MS);
    await heard.promise
      .catch(async (error) => {
        await link.command('UNLISTEN *');
        throw error;
      })
      .finally(() => clearTimeout(timer));
    if (!liveness) return;
    await link.command(liveness.forSession);
    // Not every operating system supports all of these settings.
    await link.command(KEEPALIVE_SQL).catch(() => {});
  }

  /**
   * Fallback without notifications: marks this process as alive for a while by an open transaction, which keeps the session even behind a pooler.
   * The transaction reads nothing and holds no snapshot, so it blocks no other session.
   * @throws always: the listener's failure
   */
  async #holdLiveness(link: PipelinedConnection, failure: unknown): Promise<never> {
    if (!(failure instanceof NotificationsBlocked)) throw failure;
    this.#warn();
    const { signal } = this.#closing;
    const { liveness } = this.#settings;
    if (!liveness) throw failure;
    await link.command('BEGIN');
    await link.command(liveness.forTransaction);
    for (const until = performance.now() + RETEST_DELAY_MS; performance.now() < until && !signal.aborted; ) {
      await link.command('SELECT 1');
      await sleep(SLOW_HEARTBEAT_INTERVAL_MS, signal);
    }
    throw failure;
  }

  #warn(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#settings.report('notices of PostgreSQL do not come through (a pooler?): the database is asked for changes instead');
  }
}

/** Waits for the given time, or until the signal is aborted. */
function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted || milliseconds === 0) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
