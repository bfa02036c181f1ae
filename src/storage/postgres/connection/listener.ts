import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { quoted } from '../../sql/writer.ts';
import { connectedClient, sessionName } from './connect.ts';
import type { Database } from './database.ts';
import { PipelinedConnection } from './pipelined-connection.ts';

/** Between two questions whether the connection is alive, and the longest wait for an answer, in milliseconds. */
const BEAT_MS = 250;
const BEAT_LIMIT_MS = 1000;
/** For how long an answer speaks. */
const SOUND_FOR_MS = 500;
/** Longest wait for a notice of one's own. */
const TEST_LIMIT_MS = 2000;
/** Until notices are tried again that do not come. */
const RETEST_MS = 30_000;
/** Between two questions where notices do not come. */
const SLOW_BEAT_MS = 2000;
/** Has the server notice within some ten seconds that a machine is gone which closed nothing. */
const QUICK_END =
  'SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000';
/** Pauses between attempts to connect. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 500;
/** What notices begin with by which a listener tries itself. */
const TEST = '~test:';

/** Notices do not come through what stands between. */
class Deaf extends Error {}

/** What shows others that this process is there: statements that take a lock. */
export interface LivenessSql {
  readonly forSession: string;
  readonly forTransaction: string;
}

/** What a listener is told. */
export interface ListenerSettings {
  readonly channel: string;
  /** What its session is called in pg_stat_activity. */
  readonly name?: string | undefined;
  /** The listener's session shows that this process is there. */
  readonly liveness?: LivenessSql;
  /** Told once where notices do not come. */
  report(fault: string): void;
  onNotice(payload: string): void;
  /** Notices come from now on. Some may have been missed before: what is remembered is to be looked at anew. */
  onSound?(): void;
  /** The connection was lost: notices are missed from now on. */
  onUnsound?(): void;
}

/** Hears the notices of a channel on a connection of its own, which is made again whenever it is lost. */
export class Listener {
  readonly #url: string;
  readonly #database: Database;
  readonly #settings: ListenerSettings;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #sound = false;
  /** Whether the last attempt came to a connection. */
  #isConnected = false;
  /** When the last question was asked that was answered. */
  #beatAt = 0;
  #warned = false;

  /** @param database sends the notices by which the listener tries itself */
  constructor(url: string, database: Database, settings: ListenerSettings) {
    this.#url = url;
    this.#database = database;
    this.#settings = settings;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Whether every notice that was sent up to half a second ago has come. */
  isSound(): boolean {
    return this.#sound && performance.now() - this.#beatAt <= SOUND_FOR_MS;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let pause = 0; !signal.aborted; ) {
      const heard = this.#beatAt;
      try {
        await this.#listen();
      } catch (error) {
        // What ends the listener's line may have ended the others, without a word.
        if (this.#isConnected && !signal.aborted && !(error instanceof Deaf)) this.#database.suspect();
        const failed = Math.min(MAX_PAUSE_MS, pause * 2 || FIRST_PAUSE_MS);
        const retest = this.#settings.liveness ? FIRST_PAUSE_MS : RETEST_MS;
        pause = error instanceof Deaf ? retest : this.#beatAt > heard ? FIRST_PAUSE_MS : failed;
      }
      if (this.#sound) {
        this.#sound = false;
        this.#settings.onUnsound?.();
      }
      await sleep(pause, signal);
    }
  }

  /** Listens until the connection is lost or the listener is closed. @throws always */
  async #listen(): Promise<never> {
    const { signal } = this.#closing;
    const address = { url: this.#url, pooled: true, name: this.#settings.name ?? sessionName };
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
      const link = new PipelinedConnection(client, { texts: null, patience: BEAT_LIMIT_MS });
      await this.#tune(link).catch((error) => this.#stay(link, error));
      for (;;) {
        const asked = performance.now();
        await link.command('SELECT 1');
        this.#beatAt = asked;
        if (!this.#sound) {
          this.#sound = true;
          this.#settings.onSound?.();
        }
        await sleep(BEAT_MS, signal);
        signal.throwIfAborted();
      }
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** Listens, and makes certain that notices come. @throws Deaf where they do not */
  async #tune(link: PipelinedConnection): Promise<void> {
    const { channel, liveness } = this.#settings;
    const token = TEST + randomUUID();
    const heard = Promise.withResolvers<void>();
    link.onNotification((_, payload) => {
      if (payload === token) heard.resolve();
      else if (!payload.startsWith(TEST)) this.#settings.onNotice(payload);
    });
    // Poolers make up the numbers of processes. One must not listen: the next user of its session would be sent the notices.
    const { rows } = await link.command('SELECT pg_backend_pid()');
    if (rows[0]?.[0] !== link.processId) throw new Deaf();
    await link.command(`LISTEN ${quoted(channel)}`);
    await this.#database.short({ text: 'SELECT pg_notify($1, $2)', params: [channel, token] });
    const timer = setTimeout(async () => {
      // A line that is dead hears nothing either.
      await link.command('SELECT 1').catch(() => {});
      heard.reject(link.lost ?? new Deaf());
    }, TEST_LIMIT_MS);
    await heard.promise
      .catch(async (error) => {
        await link.command('UNLISTEN *');
        throw error;
      })
      .finally(() => clearTimeout(timer));
    if (!liveness) return;
    await link.command(liveness.forSession);
    // Not every system has all of these.
    await link.command(QUICK_END).catch(() => {});
  }

  /**
   * Where notices do not come: shows for a while that this process is there, in a transaction, which keeps its session behind a pooler too.
   * It reads nothing, and does not listen, so that it is in nobody's way.
   * @throws always: what the listener failed with
   */
  async #stay(link: PipelinedConnection, failure: unknown): Promise<never> {
    if (!(failure instanceof Deaf)) throw failure;
    this.#warn();
    const { signal } = this.#closing;
    const { liveness } = this.#settings;
    if (!liveness) throw failure;
    await link.command('BEGIN');
    await link.command(liveness.forTransaction);
    for (const until = performance.now() + RETEST_MS; performance.now() < until && !signal.aborted; ) {
      await link.command('SELECT 1');
      await sleep(SLOW_BEAT_MS, signal);
    }
    throw failure;
  }

  #warn(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#settings.report('notices of PostgreSQL do not come through (a pooler?): the database is asked for changes instead');
  }
}

/** Waits, but not for longer than until the signal. */
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
