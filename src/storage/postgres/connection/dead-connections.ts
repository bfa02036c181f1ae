import type { Statement } from '../../sql/writer.ts';
import type { Row } from './database.ts';
import { isSaidByServer } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

/** Milliseconds between two looks at the connections that are waited on. */
const LOOK_MS = 250;
/** Milliseconds without a sign of life after which the server is asked about a connection. */
const SILENT_MS = 1000;
/** Milliseconds without one after which a connection counts as lost while the server answers on no other one either. */
const UNREACHABLE_MS = 10_000;
/** Milliseconds for which the server must have had nothing to do on a connection that is waited on. */
const AT_REST_MS = 500;
/** Milliseconds by which clocks, and the way of a connection, may be off. */
const CLOCK_ERROR_MS = 5000;

/** What it works with. */
export interface DeadConnectionsSettings {
  /** All connections. */
  readonly links: () => Iterable<PipelinedConnection>;
  /** Whether the numbers of server processes are those that connections were told (no pooler stands between). */
  readonly knowsProcesses: boolean;
  /** Asks on a connection that is alive for certain. @throws where none can be had */
  readonly ask: (statement: Statement) => Promise<Row[]>;
  /** Told where a connection was found to be silent for ever. */
  readonly onLost: () => void;
}

/**
 * Finds the connections that wait for an answer which never comes: lines die silently, and a statement may take its time. One that is silent
 * is lost where the server, asked on another connection, knows nothing of its session, or has nothing to do for it.
 */
export class DeadConnections {
  readonly #settings: DeadConnectionsSettings;
  readonly #timer: NodeJS.Timeout;
  #looking = false;
  /** Since when the server answers on no connection; 0: it does, or nobody has asked. */
  #unreachableSince = 0;

  constructor(settings: DeadConnectionsSettings) {
    this.#settings = settings;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    const silent = [...this.#settings.links()].filter((link) => link.silentFor > SILENT_MS);
    if (silent.length === 0) {
      this.#unreachableSince = 0;
      return;
    }
    this.#looking = true;
    const began = performance.now();
    try {
      const lost = await this.#lostAmong(silent);
      this.#unreachableSince = 0;
      this.#end(lost, began);
    } catch (error) {
      // A server that has no place for another connection, or lets nobody in any more, goes on with those that it has.
      if (isSaidByServer(error)) this.#unreachableSince = 0;
      else this.#unreachableSince ||= began;
      if (this.#unreachableSince > 0 && performance.now() - this.#unreachableSince > UNREACHABLE_MS) this.#end(silent, began);
    } finally {
      this.#looking = false;
    }
  }

  /** Those of which nothing was heard since the server was asked. Answers may be there that were not read. */
  #end(links: readonly PipelinedConnection[], since: number): void {
    setImmediate(() => {
      const lost = links.filter((link) => !link.lost && link.silentFor > 0 && link.heardAt < since);
      for (const link of lost) link.destroy(new Error('Connection terminated: no answer will come'));
      if (lost.length > 0) this.#settings.onLost();
    });
  }

  /** Those whose sessions wait for a statement, or are gone. Such a session is ended: it may hold locks. */
  async #lostAmong(links: readonly PipelinedConnection[]): Promise<PipelinedConnection[]> {
    const { ask, knowsProcesses } = this.#settings;
    if (!knowsProcesses) {
      await ask({ text: 'SELECT 1', params: [] });
      return [];
    }
    const known = new Map<unknown, readonly unknown[]>();
    const pids = `{${links.map(({ processId }) => processId).join(',')}}`;
    for (const row of await ask({ text: SESSIONS, params: [pids] })) known.set(row[0], row);
    const ageOf = (link: PipelinedConnection) => known.get(link.processId)?.[4];
    const lost = links.filter((link) => {
      const [, state, wait, restedFor] = known.get(link.processId) ?? [];
      if (state === undefined || isYounger(link, ageOf(link))) return true;
      if (state === null || state === 'disabled') return false;
      return wait === 'ClientWrite' || (String(state).startsWith('idle') && Number(restedFor) > AT_REST_MS);
    });
    const left = lost.filter((link) => known.has(link.processId) && isOf(link, ageOf(link)) && link.silentFor > SILENT_MS);
    if (left.length > 0) await ask({ text: END, params: [`{${left.map(({ processId }) => processId).join(',')}}`] });
    return lost;
  }
}

const SESSIONS = `SELECT pid, state, wait_event, extract(epoch FROM clock_timestamp() - state_change) * 1000,
    extract(epoch FROM clock_timestamp() - backend_start) * 1000
  FROM pg_stat_activity WHERE pid = ANY($1::integer[])`;

/** Ends sessions of ours that wait for us. Another server may have taken the place of the one that had them. */
const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = ANY($1::integer[]) AND datname = current_database() AND application_name = current_setting('application_name')
    AND (state LIKE 'idle%' OR wait_event = 'ClientWrite')`;

/** How much older a session of that age is than a connection, in milliseconds; 0 where that is not told. */
const olderBy = (link: PipelinedConnection, age: unknown) => (age === null ? 0 : Number(age) - (performance.now() - link.madeAt));

/** Whether a session is not a connection's, since it began later: numbers of processes come again. One that seems older met a clock that was set. */
const isYounger = (link: PipelinedConnection, age: unknown) => olderBy(link, age) < -CLOCK_ERROR_MS;

/** Whether a session is a connection's. */
const isOf = (link: PipelinedConnection, age: unknown) => Math.abs(olderBy(link, age)) < CLOCK_ERROR_MS;
