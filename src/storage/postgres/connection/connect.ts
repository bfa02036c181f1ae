import pg from 'pg';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { clientConfig } from './client-config.ts';
import { unavailable } from './map-error.ts';
import { PipelinedConnection } from './pipelined-connection.ts';
import type { RecentTexts } from './prepared-statements.ts';

/** Longest wait for a connection, in milliseconds. */
const CONNECT_LIMIT_MS = 5000;
/**
 * Milliseconds until a further attempt to connect begins beside those that hear nothing: after a time when nothing comes through they would
 * not be the first to hear of its end.
 */
const NEXT_ATTEMPT_MS = 750;
/** Pauses between attempts while the server is away: the first one, doubled up to the longest. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 500;
/** A transaction whose process has stopped must not hold its locks for ever. */
export const IDLE_LIMIT_MS = MINUTE_MS;
/** How much longer than its time limit a statement may be without an answer until the connection counts as lost. */
const GRACE_MS = 3000;

/**
 * How long a transaction of ours waits for a lock where it says nothing else, in milliseconds. Transactions that come after it wait behind it: it lets
 * them by, and tries again.
 */
export const WRITE_LOCK_LIMIT_MS = 300;

/** What sessions are called in pg_stat_activity where the address gives no other name. */
export const sessionName = 'record-service';

/** What sessions are bound by, in milliseconds; 0: not at all. */
export interface SessionLimits {
  readonly statement: number;
  readonly lock: number;
}

/** What a transaction says of itself; what is left out is the session's. */
export interface TransactionLimits extends Partial<SessionLimits> {
  /** Between two statements. */
  readonly idle?: number;
}

/** How to connect. */
export interface Address {
  readonly url: string;
  /**
   * Whether a pooler stands between (pgbouncer): what is set for a session is not kept then, and statements that are prepared are not found
   * again. Limits go with each transaction, and nothing is prepared.
   */
  readonly pooled: boolean;
  /** What the sessions are called in pg_stat_activity, whatever the address says. */
  readonly name?: string | undefined;
}

/** A client that is not connected yet. @throws OperatorError where the address cannot be read */
export function newClient({ url, pooled, name }: Address, limits: SessionLimits): pg.Client {
  return new pg.Client({
    application_name: sessionName,
    ...clientConfig(url),
    ...(name === undefined ? {} : { application_name: name }),
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    ...(pooled
      ? {}
      : {
          statement_timeout: limits.statement,
          lock_timeout: limits.lock,
          idle_in_transaction_session_timeout: IDLE_LIMIT_MS,
        }),
  });
}

/** SQL that bounds one transaction where sessions cannot be bound; empty where nothing is to be said. */
export function limitsSql({ statement, lock, idle }: TransactionLimits): string {
  let sql = '';
  if (statement !== undefined) sql += `; SET LOCAL statement_timeout = ${Math.ceil(statement)}`;
  if (lock !== undefined) sql += `; SET LOCAL lock_timeout = ${Math.ceil(lock)}`;
  if (idle !== undefined) sql += `; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idle)}`;
  return sql;
}

/**
 * A client that is connected. Attempts that hear nothing have others begun beside them; the first that connects is taken.
 * @param begun told of the clients that are not connected yet, so that they can be ended
 * @throws the database's error, or the driver's; OperatorError where the address cannot be read
 */
export function connectedClient(
  address: Address,
  limits: SessionLimits,
  begun: Set<pg.Client> = new Set<pg.Client>(),
): Promise<pg.Client> {
  const own = new Set<pg.Client>();
  let next: NodeJS.Timeout | undefined;
  return new Promise<pg.Client>((resolve, reject) => {
    const until = performance.now() + CONNECT_LIMIT_MS;
    const attempt = () => {
      next = undefined;
      let client: pg.Client;
      try {
        // A file of certificates may be gone by now.
        client = newClient(address, limits);
      } catch (error) {
        reject(error);
        return;
      }
      // Until a link takes over; without a listener an error would end the process.
      client.on('error', () => {});
      own.add(client);
      begun.add(client);
      client.connect().then(() => {
        own.delete(client);
        begun.delete(client);
        resolve(client);
      }, reject);
      if (performance.now() + NEXT_ATTEMPT_MS < until) next = setTimeout(attempt, NEXT_ATTEMPT_MS);
    };
    attempt();
  }).finally(() => {
    clearTimeout(next);
    for (const client of own) {
      begun.delete(client);
      client.connection.stream.destroy();
    }
  });
}

/** How long a link waits for an answer. */
export function patienceFor(limit: number): number {
  return limit > 0 ? limit + GRACE_MS : 0;
}

/** Makes connections, for all groups of a process. While the server is away it is tried now and then, and callers are refused at once. */
export class Connector {
  readonly address: Address;
  readonly #texts: RecentTexts;
  readonly #links = new Set<PipelinedConnection>();
  readonly #connecting = new Set<pg.Client>();
  #closed = false;
  #pause = 0;
  #notBefore = 0;
  #failure: unknown;

  constructor(address: Address, texts: RecentTexts) {
    this.address = address;
    this.#texts = texts;
  }

  /** The connections that were made and not lost. */
  *links(): Generator<PipelinedConnection> {
    for (const link of this.#links)
      if (link.lost) this.#links.delete(link);
      else yield link;
  }

  /** @throws unavailable */
  async dial(limits: SessionLimits): Promise<PipelinedConnection> {
    if (this.#closed) throw unavailable();
    if (performance.now() < this.#notBefore) throw unavailable(this.#failure);
    let client: pg.Client;
    try {
      client = await connectedClient(this.address, limits, this.#connecting);
    } catch (error) {
      this.#away(error);
      throw unavailable(error);
    }
    this.#pause = 0;
    this.#notBefore = 0;
    const link = new PipelinedConnection(client, {
      texts: this.address.pooled ? null : this.#texts,
      patience: patienceFor(limits.statement),
    });
    if (this.#closed) {
      link.destroy();
      throw unavailable();
    }
    for (const _ of this.links());
    this.#links.add(link);
    return link;
  }

  /** Makes no more connections. */
  close(): void {
    this.#closed = true;
    for (const client of this.#connecting) client.connection.stream.destroy();
  }

  #away(error: unknown): void {
    this.#failure = error;
    // Attempts that began together count once.
    if (this.#closed || performance.now() < this.#notBefore) return;
    this.#pause = Math.min(MAX_PAUSE_MS, this.#pause * 2 || FIRST_PAUSE_MS);
    this.#notBefore = performance.now() + this.#pause;
  }
}
