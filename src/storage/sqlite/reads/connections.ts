import { Connection } from '../connection/connection.ts';

/** Maximum idle connections per thread. */
const MAX_IDLE = 20;

/**
 * The connections of a reader thread. Each task has one for its duration: its transaction fixes a snapshot, and a slow client must not tie the
 * queries of others to an old one.
 */
export class ReaderConnections {
  readonly #tick: () => void;
  /** Least recently used first. */
  readonly #idle: { readonly path: string; readonly connection: Connection }[] = [];
  readonly #inUse = new Map<Connection, string>();
  /** Connections in use that shall be closed, with the callbacks that wait for that. */
  readonly #forgotten = new Map<Connection, () => void>();

  /** @param tick called periodically by interruptible statements; may throw to end the statement */
  constructor(tick: () => void) {
    this.#tick = tick;
  }

  /** Returns a connection to a file, for exclusive use. */
  take(path: string): Connection {
    const at = this.#idle.findLastIndex((entry) => entry.path === path);
    const connection = at < 0 ? new Connection(path, 'read', { tick: this.#tick }) : this.#idle.splice(at, 1)[0]?.connection;
    if (!connection) throw new Error('a connection is missing');
    this.#inUse.set(connection, path);
    return connection;
  }

  /** Takes a connection back after its transaction has ended. One that met a fault is closed. */
  giveBack(connection: Connection): void {
    const path = this.#inUse.get(connection);
    this.#inUse.delete(connection);
    const forgotten = this.#forgotten.get(connection);
    this.#forgotten.delete(connection);
    if (path === undefined || forgotten || connection.isBroken) connection.close();
    else if (this.#idle.push({ path, connection }) > MAX_IDLE) this.#idle.shift()?.connection.close();
    forgotten?.();
  }

  /** Closes the connections to a file; those in use when they are returned. @returns when all are closed */
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
