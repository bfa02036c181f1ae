import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/*
 * The private handles that Node's sockets stand on, for what it has no public interface for. An upgrade of Node begins here: `_handle`
 * and the members below are all that the service uses of them.
 */

/** What a listening socket stands on. */
export interface SocketHandle {
  /** Changes how many connections may wait to be accepted; one more than that do. */
  listen(backlog: number): number;
  getsockname(out: { address?: string; port?: number }): number;
  getpeername(out: object): number;
}

/** A connection that was accepted, before Node makes a socket of it. */
export interface ClientHandle {
  close(done?: () => void): void;
}

/** A listening socket that accepts by itself. */
export interface AcceptingHandle extends SocketHandle {
  onconnection: (error: number, client: ClientHandle | undefined) => void;
  close(): void;
}

type Handled<T> = { readonly _handle?: T | null };

/** What a server listens with; `undefined` where it does not, or another process does, which hands connections over. */
export function listeningHandle(server: Server): AcceptingHandle | undefined {
  const { _handle: handle } = server as Handled<Partial<AcceptingHandle>>;
  return handle?.getpeername ? (handle as AcceptingHandle) : undefined;
}

/** Whether the system has connected a socket whose connection Node has only just begun. */
export function isConnected(socket: Socket): boolean {
  return (socket as Handled<SocketHandle>)._handle?.getpeername({}) === 0;
}

/** Bytes of a socket that Node has handed to the system and the system has not taken yet; 0 where it has none. */
export function unsentBytes(socket: Duplex): number {
  return (socket as Handled<{ readonly writeQueueSize?: number }>)._handle?.writeQueueSize ?? 0;
}
