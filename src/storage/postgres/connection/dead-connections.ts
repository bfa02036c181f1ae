import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from './database.ts';
import { isFromServer } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

/** Interval of checks of the connections that wait for an answer, in milliseconds. */
const CHECK_INTERVAL_MS = 250;
/** Milliseconds without any data after which the server is queried about a connection. */
const SILENT_MS = 1000;
/** Milliseconds after which a silent connection counts as lost if the server answers on no other connection either. */
const UNREACHABLE_MS = 10_000;
/** Milliseconds for which the server must have been idle on a connection that waits for an answer. */
const IDLE_MS = 500;
/** Tolerance for clock differences and network delay, in milliseconds. */
const CLOCK_TOLERANCE_MS = 5000;

/** Settings and collaborators of `DeadConnections`. */
export interface DeadConnectionsSettings {
  /** All open connections. */
  readonly links: () => Iterable<PipelinedConnection>;
  /** Whether the process ids that connections report are real (no pooler in between). */
  readonly knowsProcesses: boolean;
  /** Runs a query on a connection known to be alive. @throws if none is available */
  readonly query: (statement: Statement) => Promise<Row[]>;
  /** Called at each check with the connections that have received nothing for a second although they wait for an answer. */
  readonly onSilent: (links: readonly PipelinedConnection[]) => void;
  /** Called when connections were found dead. */
  readonly onLost: () => void;
}

/**
 * Finds connections that wait for an answer which will never arrive: network connections die without notice, and a timeout alone cannot tell that
 * from a slow statement. A silent connection is lost if the server, queried on another connection, does not know its session, or has nothing to do
 * for it.
 */
export class DeadConnections {
  readonly #settings: DeadConnectionsSettings;
  readonly #timer: NodeJS.Timeout;
  #isChecking = false;
  /** Since when the server has not answered on any connection; 0: it answers, or was not queried. */
  #unreachableSince = 0;

  constructor(settings: DeadConnectionsSettings) {
    this.#settings = settings;
    this.#timer = setInterval(() => void this.#check(), CHECK_INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    const silent = [...this.#settings.links()].filter((link) => link.silentFor > SILENT_MS);
    if (silent.length === 0) {
      this.#unreachableSince = 0;
      return;
    }
    this.#settings.onSilent(silent);
    this.#isChecking = true;
    const began = performance.now();
    try {
      const lost = await this.#lostAmong(silent);
      this.#unreachableSince = 0;
      this.#end(lost, began);
    } catch (error) {
      // A server that refuses new connections still serves the existing ones.
      if (isFromServer(error)) this.#unreachableSince = 0;
      else this.#unreachableSince ||= began;
      if (this.#unreachableSince > 0 && performance.now() - this.#unreachableSince > UNREACHABLE_MS) this.#end(silent, began);
    } finally {
      this.#isChecking = false;
    }
  }

  /**
   * Destroys connections that have received nothing since the server was queried. Deferred, because answers may have arrived that were not read
   * yet.
   */
  #end(links: readonly PipelinedConnection[], since: number): void {
    setImmediate(() => {
      const lost = links.filter((link) => !link.lost && link.silentFor > 0 && link.lastReceivedAt < since);
      for (const link of lost) link.destroy(new Error('Connection terminated: no answer will come'));
      if (lost.length > 0) this.#settings.onLost();
    });
  }

  /** Returns the connections whose sessions are gone or wait for a statement. Terminates such sessions, since they may hold locks. */
  async #lostAmong(links: readonly PipelinedConnection[]): Promise<PipelinedConnection[]> {
    const { query, knowsProcesses } = this.#settings;
    if (!knowsProcesses) {
      await query({ text: 'SELECT 1', params: [] });
      return [];
    }
    const known = new Map<unknown, readonly unknown[]>();
    const pids = `{${links.map(({ processId }) => processId).join(',')}}`;
    for (const row of await query({ text: SESSIONS, params: [pids] })) known.set(row[0], row);
    const ageOf = (link: PipelinedConnection) => known.get(link.processId)?.[4];
    const lost = links.filter((link) => {
      const [, state, wait, idleFor] = known.get(link.processId) ?? [];
      if (state === undefined || isYounger(link, ageOf(link))) return true;
      if (state === null || state === 'disabled') return false;
      return wait === 'ClientWrite' || (String(state).startsWith('idle') && Number(idleFor) > IDLE_MS);
    });
    const left = lost.filter((link) => known.has(link.processId) && isOf(link, ageOf(link)) && link.silentFor > SILENT_MS);
    if (left.length > 0) await query({ text: TERMINATE, params: [`{${left.map(({ processId }) => processId).join(',')}}`] });
    return lost;
  }
}

const SESSIONS = `SELECT pid, state, wait_event, extract(epoch FROM clock_timestamp() - state_change) * 1000,
    extract(epoch FROM clock_timestamp() - backend_start) * 1000
  FROM pg_stat_activity WHERE pid = ANY($1::integer[])`;

/** Terminates our own sessions that wait for a client. Checks the name, because another server may have replaced the one that had them. */
const TERMINATE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ANY($1::integer[]) AND datname = current_database() AND application_name = current_setting('application_name')
    AND (state LIKE 'idle%' OR wait_event = 'ClientWrite')`;

/** By how many milliseconds a session of this age is older than a connection; 0 if the age is hidden. */
const olderBy = (link: PipelinedConnection, age: unknown) =>
  age === null ? 0 : Number(age) - (performance.now() - link.connectedAt);

/**
 * Whether a session is not the connection's, because it began later: process ids are reused. A session that seems older is due to a changed clock.
 */
const isYounger = (link: PipelinedConnection, age: unknown) => olderBy(link, age) < -CLOCK_TOLERANCE_MS;

/** Whether a session belongs to a connection. */
const isOf = (link: PipelinedConnection, age: unknown) => Math.abs(olderBy(link, age)) < CLOCK_TOLERANCE_MS;
