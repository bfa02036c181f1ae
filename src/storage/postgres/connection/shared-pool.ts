import { setTimeout as wait } from 'node:timers/promises';
import type { Connector, SessionLimits } from './connect.ts';
import type { Database } from './database.ts';
import { PROOF_LIMIT_MS } from './exclusive-pool.ts';
import { unavailable } from './map-error.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

/** Statements under way on each connection before another one is made. */
const ENOUGH_FOR_ONE = 8;

/** Connections that all callers use at once: statements are sent one behind the other, not waited for. */
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

  /** The connection with the least to do; `undefined` where there is none. */
  get leastBusy(): PipelinedConnection | undefined {
    let best: PipelinedConnection | undefined;
    for (const link of this.#links) if (!best || link.underWay < best.underWay) best = link;
    if (best && best.underWay >= ENOUGH_FOR_ONE && this.#links.length < this.#size) this.#dial().catch(() => {});
    return best;
  }

  /** A connection, made where there is none. @throws unavailable */
  async connected(): Promise<PipelinedConnection> {
    if (this.#closed) throw unavailable();
    return this.leastBusy ?? this.#dial();
  }

  /** Has all connections prove that they are alive. Statements of theirs are short, so that one that is alive answers soon. */
  prove(): void {
    for (const link of this.#links) void link.prove(1.5 * PROOF_LIMIT_MS);
  }

  /** One that has been heard since then. */
  heardSince(time: number): PipelinedConnection | undefined {
    return this.#links.find((link) => link.heardAt > time);
  }

  /** Takes a connection on that was made elsewhere, with the limits of these, or ends it where there are enough. */
  adopt(link: PipelinedConnection): void {
    if (this.#closed || this.#links.length >= this.#size) void link.end();
    else if (!link.lost) this.#add(link);
  }

  /** How sessions of these connections are bound. */
  get limits(): SessionLimits {
    return this.#limits;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connecting?.catch(() => {});
    await Promise.all(this.#links.splice(0).map((link) => link.end()));
  }

  #dial(): Promise<PipelinedConnection> {
    this.#connecting ??= this.#connector
      .dial(this.#limits)
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
    link.onGone = () => {
      const at = this.#links.indexOf(link);
      if (at >= 0) this.#links.splice(at, 1);
    };
  }
}

/** Milliseconds after which a question stands behind others, and in which a connection was heard that is alive. */
const BEHIND_MS = 500;
const HEARD_MS = 150;

/** Resolves where the database answers, be it those before us in a long line. @throws unavailable, timeout */
export async function whenAnswering(database: Pick<Database, 'short'>, shared: SharedPool): Promise<void> {
  const asked = database.short({ text: 'SELECT 1', params: [] });
  const others = wait(BEHIND_MS, undefined, { ref: false }).then(() =>
    shared.heardSince(performance.now() - HEARD_MS) ? undefined : asked,
  );
  others.catch(() => {});
  await Promise.race([asked, others]);
}
