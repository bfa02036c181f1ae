import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/*
 * Node's private socket handles, for features without a public interface. Check this file first when Node is upgraded: `_handle` and the
 * members below are all that the service uses of them.
 */

/** The handle of a listening socket. */
export interface SocketHandle {
  /** Changes the backlog; one more connection than that may wait to be accepted. */
  listen(backlog: number): number;
  getsockname(out: { address?: string; port?: number }): number;
  getpeername(out: object): number;
}

/** An accepted connection, before Node creates a socket for it. */
export interface ClientHandle {
  close(done?: () => void): void;
}

/** A listening socket that accepts connections itself. */
export interface AcceptingHandle extends SocketHandle {
  onconnection: (error: number, client: ClientHandle | undefined) => void;
  close(): void;
}

type Handled<T> = { readonly _handle?: T | null };

/** Returns a server's listening handle; `undefined` if it does not listen, or if another process accepts and hands connections over. */
export function listeningHandle(server: Server): AcceptingHandle | undefined {
  const { _handle: handle } = server as Handled<Partial<AcceptingHandle>>;
  return handle?.getpeername ? (handle as AcceptingHandle) : undefined;
}

/** Whether the system has connected a socket whose connection Node has only just started. */
export function isConnected(socket: Socket): boolean {
  return (socket as Handled<SocketHandle>)._handle?.getpeername({}) === 0;
}

/** Returns the bytes that Node has passed to the system and that the system has not accepted yet; 0 if there is no handle. */
export function unsentBytes(socket: Duplex): number {
  return (socket as Handled<{ readonly writeQueueSize?: number }>)._handle?.writeQueueSize ?? 0;
}
