import { Connection } from '../connection/connection.ts';

/** Connections that wait for their next task. */
const MAX_IDLE = 20;

/**
 * A reader thread's connections. A task has one of its own as long as it lasts: its transaction shows the data of one moment, and a
 * client that reads slowly must not keep the queries of others in that moment.
 */
export class ReaderConnections {
  readonly #tick: () => void;
  /** Last used last. */
  readonly #idle: { readonly path: string; readonly connection: Connection }[] = [];
  readonly #inUse = new Map<Connection, string>();
  /** Those in use that are to be closed, and what waits for that. */
  readonly #forgotten = new Map<Connection, () => void>();

  /** @param tick asked now and then by interruptible statements; may throw to end the statement */
  constructor(tick: () => void) {
    this.#tick = tick;
  }

  /** A connection to a file, for the caller alone. */
  take(path: string): Connection {
    const at = this.#idle.findLastIndex((entry) => entry.path === path);
    const connection = at < 0 ? new Connection(path, 'read', { tick: this.#tick }) : this.#idle.splice(at, 1)[0]?.connection;
    if (!connection) throw new Error('a connection is missing');
    this.#inUse.set(connection, path);
    return connection;
  }

  /** Takes a connection back, its transaction ended. One that met a fault is of no more use. */
  giveBack(connection: Connection): void {
    const path = this.#inUse.get(connection);
    this.#inUse.delete(connection);
    const forgotten = this.#forgotten.get(connection);
    this.#forgotten.delete(connection);
    if (path === undefined || forgotten || connection.isBroken) connection.close();
    else if (this.#idle.push({ path, connection }) > MAX_IDLE) this.#idle.shift()?.connection.close();
    forgotten?.();
  }

  /** Closes the connections to a file: those in use when they come back. @returns when all are closed */
  async forget(path: string): Promise<void> {
    for (let at = this.#idle.length - 1; at >= 0; at--)
      if (this.#idle[at]?.path === path) this.#idle.splice(at, 1)[0]?.connection.close();
    const inUse = [...this.#inUse].filter(([, used]) => used === path);
    await Promise.all(
      inUse.map(([connection]) => {
        const before = this.#forgotten.get(connection);
        return new Promise<void>((resolve) => {
          this.#forgotten.set(connection, () => {
            before?.();
            resolve();
          });
        });
      }),
    );
  }
}
