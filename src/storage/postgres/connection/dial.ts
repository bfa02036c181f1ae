import pg from 'pg';
import { clientConfig } from './client-config.ts';
import { unavailable } from './errors.ts';
import { Link } from './link.ts';
import type { Texts } from './prepared.ts';

/** Longest wait for a connection, in milliseconds. */
const CONNECT_LIMIT = 5000;
/** Pauses between attempts while the server is away: the first one, doubled up to the longest. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 500;
/** A transaction whose process has stopped must not hold its locks for ever. */
export const IDLE_LIMIT = 60_000;
/** How much longer than its time limit a statement may be without an answer until the connection counts as lost. */
const GRACE = 3000;

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
    connectionTimeoutMillis: CONNECT_LIMIT,
    ...(pooled
      ? {}
      : {
          statement_timeout: limits.statement,
          lock_timeout: limits.lock,
          idle_in_transaction_session_timeout: IDLE_LIMIT,
        }),
  });
}

/** SQL that bounds one transaction where sessions cannot be bound; empty where nothing is to be said. */
export function limitsSql({ statement, lock, idle }: TransactionLimits, scope: 'LOCAL' | 'SESSION' = 'LOCAL'): string {
  let sql = '';
  if (statement !== undefined) sql += `; SET ${scope} statement_timeout = ${Math.ceil(statement)}`;
  if (lock !== undefined) sql += `; SET ${scope} lock_timeout = ${Math.ceil(lock)}`;
  if (idle !== undefined) sql += `; SET ${scope} idle_in_transaction_session_timeout = ${Math.ceil(idle)}`;
  return sql;
}

/** How long a link waits for an answer. */
export function patienceFor(limit: number): number {
  return limit > 0 ? limit + GRACE : 0;
}

/** Makes connections, for all groups of a process. While the server is away it is tried now and then, and callers are refused at once. */
export class Dialer {
  readonly address: Address;
  readonly #texts: Texts;
  readonly #report: (fault: string) => void;
  readonly #connecting = new Set<pg.Client>();
  #closed = false;
  #pause = 0;
  #notBefore = 0;
  #failure: unknown;

  /** @param report told when the server is found away */
  constructor(address: Address, texts: Texts, report: (fault: string) => void) {
    this.address = address;
    this.#texts = texts;
    this.#report = report;
  }

  /** @throws unavailable */
  async dial(limits: SessionLimits): Promise<Link> {
    if (this.#closed) throw unavailable();
    if (performance.now() < this.#notBefore) throw unavailable(this.#failure);
    let client: pg.Client | undefined;
    try {
      // A file of certificates may be gone by now.
      client = newClient(this.address, limits);
      // Until a link takes over; without a listener an error would end the process.
      client.on('error', () => {});
      this.#connecting.add(client);
      await client.connect();
    } catch (error) {
      client?.connection.stream.destroy();
      this.#away(error);
      throw unavailable(error);
    } finally {
      if (client) this.#connecting.delete(client);
    }
    this.#pause = 0;
    this.#notBefore = 0;
    const link = new Link(client, {
      texts: this.address.pooled ? null : this.#texts,
      patience: patienceFor(limits.statement),
    });
    if (this.#closed) {
      link.destroy();
      throw unavailable();
    }
    return link;
  }

  /** Makes no more connections. */
  close(): void {
    this.#closed = true;
    for (const client of this.#connecting) client.connection.stream.destroy();
  }

  #away(error: unknown): void {
    this.#failure = error;
    if (this.#closed) return;
    if (this.#pause === 0)
      this.#report(`PostgreSQL cannot be reached: ${error instanceof Error ? error.message || error.name : error}`);
    // Attempts that began together count once.
    if (performance.now() < this.#notBefore) return;
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2 || FIRST_PAUSE);
    this.#notBefore = performance.now() + this.#pause;
  }
}
