import { randomUUID } from 'node:crypto';
import type { Statement } from '../../sql/sql-writer.ts';

/** NOTIFY channel on which the processes of a service announce their changes. */
export const channel = 'rds';

/** Identifies this process, so that it ignores its own notifications. */
const self = randomUUID();

/** Payload of a notification, as JSON text. Short names, since every write to a watched table sends one. */
interface Payload {
  /** Process that sent it. */
  readonly p: string;
  /** The registry has changed. */
  readonly r?: true;
  /** PostgreSQL schema of the system that has changed. */
  readonly s?: string;
  /** Its tables or fields have changed. */
  readonly c?: boolean;
  /** Watched tables of the system that were written to. */
  readonly t?: readonly string[];
}

/** What a notification says about another process's commit. */
export interface StoreInvalidation {
  readonly schemaChanged: boolean;
  /** Watched tables that were written to. */
  readonly tables: readonly string[];
}

/** Keeps data in memory that other processes may change. */
export interface Watcher {
  invalidated(notice: StoreInvalidation): void;
  /** Notifications may have been lost: everything in memory must be checked again. */
  markStale(): void;
}

/** Source of notifications. */
export interface InvalidationSource {
  /** Whether every notification arrives, and without delay. */
  isReliable(): boolean;
}

/** Returns the statement that announces a change of the registry. It takes effect when its transaction commits. */
export function registryInvalidation(): Statement {
  return notify({ p: self, r: true });
}

/** Returns the statement that announces a change of a system. @param schema the system's PostgreSQL schema */
export function storeInvalidation(schema: string, { schemaChanged, tables }: StoreInvalidation): Statement {
  return notify({ p: self, s: schema, c: schemaChanged, t: tables });
}

/**
 * Returns the same for the transaction that makes the change. On a coordinator it ends the lock time limit: commits that notify wait for each other,
 * and an error of COMMIT would leave the outcome unknown. `set_config` is not passed on to nodes.
 */
export function commitInvalidation(
  { schemaName, isCoordinator }: { readonly schemaName: string; readonly isCoordinator: boolean },
  change: StoreInvalidation,
): Statement {
  const { text, params } = storeInvalidation(schemaName, change);
  return isCoordinator
    ? { text: text.replace('SELECT ', "SELECT set_config('lock_timeout', '0', true), "), params }
    : { text, params };
}

function notify(payload: Payload): Statement {
  return { text: 'SELECT pg_notify($1, $2)', params: [channel, JSON.stringify(payload)] };
}

/** Delivers notifications of other processes to the watchers of the system concerned. */
export class InvalidationBus {
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #registry = new Set<() => void>();
  #source: InvalidationSource | undefined;

  /** Sets the source of notifications. Before this call none are reliable. */
  connect(source: InvalidationSource): void {
    this.#source = source;
  }

  /** Whether every change of another process is reported without delay. */
  isReliable(): boolean {
    return this.#source?.isReliable() === true;
  }

  /** Registers a watcher for a system's notifications. @returns a function that removes it */
  watch(schema: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(schema) ?? new Set();
    this.#watchers.set(schema, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers.get(schema) === watchers) this.#watchers.delete(schema);
    };
  }

  onRegistry(changed: () => void): void {
    this.#registry.add(changed);
  }

  /** Delivers a notification. Foreign texts on the same channel are ignored. */
  deliver(text: string): void {
    let payload: Payload;
    try {
      payload = JSON.parse(text) as Payload;
    } catch {
      return;
    }
    if (payload?.p === self || typeof payload?.p !== 'string') return;
    if (payload.r) for (const changed of this.#registry) changed();
    if (payload.s === undefined) return;
    // Validate: any session of the database may send on the channel.
    const notice = { schemaChanged: payload.c === true, tables: Array.isArray(payload.t) ? payload.t : [] };
    for (const watcher of this.#watchers.get(payload.s) ?? []) watcher.invalidated(notice);
  }

  /** Notifications may have been lost: everything in memory must be checked again. */
  markStale(): void {
    for (const changed of this.#registry) changed();
    for (const watchers of this.#watchers.values()) for (const watcher of watchers) watcher.markStale();
  }
}
