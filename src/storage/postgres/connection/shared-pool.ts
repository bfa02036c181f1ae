import { setTimeout as wait } from 'node:timers/promises';
import type { Connector, SessionLimits } from './connect.ts';
import type { Database } from './database.ts';
import { MAX_AGE_MS, PING_TIMEOUT_MS } from './exclusive-pool.ts';
import type { SharedLoad } from './load.ts';
import { unavailable } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

/** Number of pending statements on a connection beyond which another one is opened. */
const MAX_PENDING = 8;

/** Connections that all callers share: statements are pipelined, each sent without waiting for earlier answers. */
export class SharedPool {
  readonly #connector: Connector;
  readonly #limits: SessionLimits;
  readonly #size: number;
  readonly #links: PipelinedConnection[] = [];
  #connecting: Promise<PipelinedConnection> | undefined;
  #closed = false;

  constructor(connector: Connector, size: number, limits: SessionLimits) {
    this.#connector = connector;
    this.#size = size;
    this.#limits = limits;
  }

  /** The connection with the fewest pending statements; `undefined` if there is none. Opens another one if it is busy. */
  get leastBusy(): PipelinedConnection | undefined {
    let best: PipelinedConnection | undefined;
    for (const link of this.#links) if (!best || link.pending < best.pending) best = link;
    if (best && best.pending >= MAX_PENDING && this.#links.length < this.#size) this.#connect().catch(() => {});
    else if (best && performance.now() - best.connectedAt > MAX_AGE_MS) this.#replace(best);
    return best;
  }

  /** Opens another connection in place of an old one, which ends after its pending statements. */
  #replace(old: PipelinedConnection): void {
    if (this.#connecting) return;
    this.#connect().then(
      () => {
        this.#remove(old);
        void old.end();
      },
      () => {},
    );
  }

  #remove(link: PipelinedConnection): void {
    const at = this.#links.indexOf(link);
    if (at >= 0) this.#links.splice(at, 1);
  }

  /** Returns a connection, opening one if there is none. @throws unavailable */
  async connected(): Promise<PipelinedConnection> {
    if (this.#closed) throw unavailable();
    return this.leastBusy ?? this.#connect();
  }

  /** Pings all connections. Their statements are short, so a live connection answers soon. */
  ping(): void {
    for (const link of this.#links) void link.ping(1.5 * PING_TIMEOUT_MS);
  }

  /** Returns a connection that has received data since the given time, by `performance.now()`. */
  receivedSince(time: number): PipelinedConnection | undefined {
    return this.#links.find((link) => link.lastReceivedAt > time);
  }

  /** Adds a connection that was opened elsewhere with these `limits`, or ends it if there are enough. */
  adopt(link: PipelinedConnection): void {
    if (this.#closed || this.#links.length >= this.#size) void link.end();
    else if (!link.lost) this.#add(link);
  }

  /** Limits of the sessions of this pool. */
  get limits(): SessionLimits {
    return this.#limits;
  }

  /** Pending statements, and connections with and without them. */
  get load(): SharedLoad {
    let [pending, busy] = [0, 0];
    for (const link of this.#links) {
      pending += link.pending;
      if (link.pending > 0) busy++;
    }
    return { pending, busy, idle: this.#links.length - busy };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connecting?.catch(() => {});
    await Promise.all(this.#links.splice(0).map((link) => link.end()));
  }

  #connect(): Promise<PipelinedConnection> {
    this.#connecting ??= this.#connector
      .connect(this.#limits)
      .then((link) => {
        this.#add(link);
        return link;
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  #add(link: PipelinedConnection): void {
    this.#links.push(link);
    link.onLost = () => this.#remove(link);
  }
}

/**
 * Milliseconds after which a probe counts as queued behind other statements, and within which a connection in use has received data if it is alive.
 */
const QUEUED_AFTER_MS = 500;
const RECEIVED_WITHIN_MS = 150;

/** Resolves if the database answers this probe, or keeps answering the statements queued before it. @throws unavailable, timeout */
export async function whenAnswering(database: Pick<Database, 'short'>, shared: SharedPool): Promise<void> {
  const probe = database.short({ text: 'SELECT 1', params: [] });
  const others = wait(QUEUED_AFTER_MS, undefined, { ref: false }).then(() =>
    shared.receivedSince(performance.now() - RECEIVED_WITHIN_MS) ? undefined : probe,
  );
  others.catch(() => {});
  await Promise.race([probe, others]);
}
