import pg from 'pg';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { clientConfig } from './client-config.ts';
import { unavailable } from './map-error.ts';
import { PipelinedConnection } from './pipelined-connection.ts';
import type { RecentTexts } from './prepared-statements.ts';
import { parseRows } from './row-parser.ts';

/** Timeout of connecting, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5000;
/**
 * Milliseconds until another attempt to connect starts in parallel to silent ones. After an interruption of the network, an attempt that began
 * during it would notice its end only after a delay.
 */
const PARALLEL_ATTEMPT_MS = 750;
/** Delays between attempts while the server is unreachable: the first one, doubled up to the maximum. */
const MIN_RETRY_DELAY_MS = 100;
const MAX_RETRY_DELAY_MS = 500;
/** Idle timeout of a transaction, so that a stopped process does not hold its locks for ever. */
export const IDLE_LIMIT_MS = MINUTE_MS;
/** Milliseconds beyond its time limit after which an unanswered statement means that the connection is lost. */
const ANSWER_GRACE_MS = 3000;

/** Default lock timeout of write transactions, in milliseconds. Later transactions queue behind a waiting one, so it gives way and tries again. */
export const WRITE_LOCK_LIMIT_MS = 300;

/** Milliseconds that a coordinator may take to connect to a node. Its default of 30 seconds would hold the connections of other systems' work. */
const NODE_CONNECT_TIMEOUT_MS = 1000;
/** Options of sessions with a coordinator. Nodes wait for locks; the second one passes on to them what a transaction sets (`lock_timeout`). */
const COORDINATOR_OPTIONS = [
  `-c citus.node_connection_timeout=${NODE_CONNECT_TIMEOUT_MS}`,
  '-c citus.propagate_set_commands=local',
];

/** Options of all sessions: the isolation that transactions rely on, whatever the database or the role sets. */
const SESSION_OPTIONS = ['-c default_transaction_isolation=read\\ committed'];

/** `application_name` of sessions, unless the URL sets another. */
export const sessionName = 'record-service';

/** Limits of a session, in milliseconds; 0: unlimited. */
export interface SessionLimits {
  readonly statement: number;
  readonly lock: number;
}

/** Limits set by a transaction; those left out are the session's. */
export interface TransactionLimits extends Partial<SessionLimits> {
  /** Between two statements. */
  readonly idle?: number;
}

/** How to connect. */
export interface Address {
  readonly url: string;
  /**
   * Whether a pooler (pgbouncer) is in between: session settings and prepared statements are then lost between transactions. Each transaction sets
   * its limits, and nothing is prepared.
   */
  readonly pooled: boolean;
  /** Whether the server is the coordinator of a Citus cluster, where the schema of each system lies on one of several nodes. */
  readonly isCoordinator: boolean;
  /** `application_name` of the sessions, overriding the URL. */
  readonly name?: string | undefined;
}

/** Returns a client that is not connected yet. @throws OperatorError for an invalid URL */
export function newClient({ url, pooled, isCoordinator, name }: Address, limits: SessionLimits): pg.Client {
  const config = clientConfig(url);
  const client = new pg.Client({
    application_name: sessionName,
    ...config,
    ...(name === undefined ? {} : { application_name: name }),
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(pooled
      ? {}
      : {
          options: [config.options, ...SESSION_OPTIONS, ...(isCoordinator ? COORDINATOR_OPTIONS : [])].filter(Boolean).join(' '),
          statement_timeout: limits.statement,
          lock_timeout: limits.lock,
          idle_in_transaction_session_timeout: IDLE_LIMIT_MS,
        }),
  });
  parseRows(client);
  return client;
}

/** Returns SQL that sets the limits of one transaction; empty if there are none. */
export function limitsSql({ statement, lock, idle }: TransactionLimits): string {
  let sql = '';
  if (statement !== undefined) sql += `; SET LOCAL statement_timeout = ${Math.ceil(statement)}`;
  if (lock !== undefined) sql += `; SET LOCAL lock_timeout = ${Math.ceil(lock)}`;
  if (idle !== undefined) sql += `; SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(idle)}`;
  return sql;
}

/**
 * Returns a connected client. While attempts are silent, further ones start in parallel; the first that connects wins.
 * @param connecting holds the clients that are not connected yet, so that the caller can destroy them
 * @throws the database's error, or the driver's; OperatorError for an invalid URL
 */
export function connectedClient(
  address: Address,
  limits: SessionLimits,
  connecting: Set<pg.Client> = new Set<pg.Client>(),
): Promise<pg.Client> {
  const own = new Set<pg.Client>();
  let next: NodeJS.Timeout | undefined;
  return new Promise<pg.Client>((resolve, reject) => {
    const until = performance.now() + CONNECT_TIMEOUT_MS;
    const attempt = () => {
      next = undefined;
      let client: pg.Client;
      try {
        // This reads certificate files, which may be missing by now.
        client = newClient(address, limits);
      } catch (error) {
        reject(error);
        return;
      }
      // Until a PipelinedConnection takes over: an error event without a listener would end the process.
      client.on('error', () => {});
      own.add(client);
      connecting.add(client);
      client.connect().then(() => {
        own.delete(client);
        connecting.delete(client);
        resolve(client);
      }, reject);
      if (performance.now() + PARALLEL_ATTEMPT_MS < until) next = setTimeout(attempt, PARALLEL_ATTEMPT_MS);
    };
    attempt();
  }).finally(() => {
    clearTimeout(next);
    for (const client of own) {
      connecting.delete(client);
      client.connection.stream.destroy();
    }
  });
}

/** Returns the answer timeout of a connection for a statement time limit, in milliseconds; 0: none. */
export function answerTimeoutFor(limit: number): number {
  return limit > 0 ? limit + ANSWER_GRACE_MS : 0;
}

/**
 * Opens connections for all pools of a process. While the server is unreachable, it is tried at intervals, and callers fail immediately in between.
 */
export class Connector {
  readonly address: Address;
  readonly #texts: RecentTexts;
  readonly #links = new Set<PipelinedConnection>();
  readonly #connecting = new Set<pg.Client>();
  #closed = false;
  #retryDelay = 0;
  #notBefore = 0;
  #failure: unknown;

  constructor(address: Address, texts: RecentTexts) {
    this.address = address;
    this.#texts = texts;
  }

  /** Connections that were opened and not lost. */
  *links(): Generator<PipelinedConnection> {
    for (const link of this.#links)
      if (link.lost) this.#links.delete(link);
      else yield link;
  }

  /** Opens a connection. @throws unavailable */
  async connect(limits: SessionLimits): Promise<PipelinedConnection> {
    if (this.#closed) throw unavailable();
    if (performance.now() < this.#notBefore) throw unavailable(this.#failure);
    let client: pg.Client;
    try {
      client = await connectedClient(this.address, limits, this.#connecting);
    } catch (error) {
      this.#recordFailure(error);
      throw unavailable(error);
    }
    this.#retryDelay = 0;
    this.#notBefore = 0;
    const link = new PipelinedConnection(client, {
      texts: this.address.pooled ? null : this.#texts,
      answerTimeoutMs: answerTimeoutFor(limits.statement),
      isCoordinator: this.address.isCoordinator,
    });
    if (this.#closed) {
      link.destroy();
      throw unavailable();
    }
    for (const _ of this.links());
    this.#links.add(link);
    return link;
  }

  /** Refuses to open further connections. */
  close(): void {
    this.#closed = true;
    for (const client of this.#connecting) client.connection.stream.destroy();
  }

  #recordFailure(error: unknown): void {
    this.#failure = error;
    // Parallel attempts count once.
    if (this.#closed || performance.now() < this.#notBefore) return;
    this.#retryDelay = Math.min(MAX_RETRY_DELAY_MS, this.#retryDelay * 2 || MIN_RETRY_DELAY_MS);
    this.#notBefore = performance.now() + this.#retryDelay;
  }
}
