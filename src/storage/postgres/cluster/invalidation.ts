import { randomUUID } from 'node:crypto';
import type { Statement } from '../../sql/writer.ts';

/** The channel on which the processes of a service tell each other what they changed. */
export const channel = 'rds';

/** This process, so that it passes over what it said itself. */
const self = randomUUID();

/** What a notice says, as JSON text: short names, since every write to a watched table sends one. */
interface Payload {
  /** The process that says it. */
  readonly p: string;
  /** The registry has changed. */
  readonly r?: true;
  /** A system, by its schema. */
  readonly s?: string;
  /** Its tables and fields have changed. */
  readonly c?: boolean;
  /** Watched tables of it that were written to. */
  readonly t?: readonly string[];
}

/** What a store is told of another process's commit. */
export interface StoreInvalidation {
  readonly schemaChanged: boolean;
  /** Watched tables that were written to. */
  readonly tables: readonly string[];
}

/** Keeps in memory what other processes may change. */
export interface Watcher {
  noticed(notice: StoreInvalidation): void;
  /** Notices may have been missed. */
  distrust(): void;
}

/** Where notices come from. */
export interface InvalidationSource {
  /** Whether every notice comes, and at once. */
  isSound(): boolean;
}

/** The statement that tells the other processes, with the commit of its transaction, that the registry has changed. */
export function registryInvalidation(): Statement {
  return notify({ p: self, r: true });
}

/** The same of a system. @param schema the system's PostgreSQL schema */
export function storeInvalidation(schema: string, { schemaChanged, tables }: StoreInvalidation): Statement {
  return notify({ p: self, s: schema, c: schemaChanged, t: tables });
}

function notify(payload: Payload): Statement {
  return { text: 'SELECT pg_notify($1, $2)', params: [channel, JSON.stringify(payload)] };
}

/** Hands the notices of other processes to the watchers that they concern. */
export class InvalidationBus {
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #registry = new Set<() => void>();
  #source: InvalidationSource | undefined;

  /** From now on notices come from here; before, none come for certain. */
  connect(source: InvalidationSource): void {
    this.#source = source;
  }

  /** Whether every change of another process is told at once. */
  isSound(): boolean {
    return this.#source?.isSound() === true;
  }

  /** Hands a watcher the notices of a system. @returns what ends that */
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

  /** Takes a notice as it came. Texts of others on the same channel are passed over. */
  take(text: string): void {
    let payload: Payload;
    try {
      payload = JSON.parse(text) as Payload;
    } catch {
      return;
    }
    if (payload?.p === self || typeof payload?.p !== 'string') return;
    if (payload.r) for (const changed of this.#registry) changed();
    if (payload.s === undefined) return;
    // Any session of the database may send on the channel.
    const notice = { schemaChanged: payload.c === true, tables: Array.isArray(payload.t) ? payload.t : [] };
    for (const watcher of this.#watchers.get(payload.s) ?? []) watcher.noticed(notice);
  }

  /** Notices may have been missed: all that is remembered is to be looked at anew. */
  distrust(): void {
    for (const changed of this.#registry) changed();
    for (const watchers of this.#watchers.values()) for (const watcher of watchers) watcher.distrust();
  }
}
