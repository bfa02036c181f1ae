import { connect } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { isConnected, type SocketHandle } from './socket-handle.ts';

/** Milliseconds without arrivals after which everything in transit has arrived, and the time limit of waiting for that. */
const QUIET_MS = 50;
const QUIET_TIMEOUT_MS = 1_000;
/** Time limit, in milliseconds, of waiting for a moment without pending connections. */
const CLOSING_TIMEOUT_MS = 1_500;
/** Milliseconds after which a client has repeated a connection attempt that a full queue dropped (Linux: at least 200). */
const RESEND_MS = 250;
/** Node's default backlog: the number of connections that may wait to be accepted. */
const BACKLOG = 511;

/** A listening socket. */
export interface ListeningSocket {
  /** Number of connections accepted so far. */
  readonly accepted: number;
  /** `undefined` if it does not listen itself, because another process accepts and hands connections over. */
  readonly handle: SocketHandle | undefined;
  /** Stops reading from accepted connections, so that clients that wait for an answer open no further ones. */
  pause(): void;
  /** Resumes reading. */
  resume(): void;
  /** Closes the socket; connections that still wait to be accepted are reset. */
  close(): void;
}

/** Waits until nothing new arrives, for a second at most. @param arrivals returns their number so far */
export async function waitForQuiet(arrivals: () => number): Promise<void> {
  const deadline = performance.now() + QUIET_TIMEOUT_MS;
  let seen: number;
  do {
    seen = arrivals();
    await wait(QUIET_MS);
    // Timers run before sockets: after a long turn of the event loop reading takes one more turn.
    await turns(2);
  } while (seen !== arrivals() && performance.now() < deadline);
}

/** Closes a listening socket at a moment without pending connections; within a second and a half in any case. */
export async function closeListener(socket: ListeningSocket): Promise<void> {
  const deadline = performance.now() + CLOSING_TIMEOUT_MS;
  socket.pause();
  try {
    do {
      const seen = socket.accepted;
      await untilNonePending(socket, deadline);
      if (!socket.handle || (await closeWhileFull(socket, socket.handle))) break;
      await wait(RESEND_MS);
      // No new connections, and the system does not complete one at once.
      if (socket.accepted === seen) break;
    } while (performance.now() < deadline);
    socket.close();
  } finally {
    socket.resume();
  }
}

/** One connection is accepted in each turn of the event loop: after a turn without any, none was pending a moment ago. */
async function untilNonePending(socket: ListeningSocket, deadline: number): Promise<void> {
  let seen: number;
  do {
    seen = socket.accepted;
    await nextTurn();
  } while (seen !== socket.accepted && performance.now() < deadline);
}

/**
 * Shrinks the backlog to one connection and fills it: if that connection is completed at once, no other one is pending, and none can be before
 * the socket is closed. Clients that connect in these microseconds retry by themselves.
 * @returns whether it was closed
 */
async function closeWhileFull(socket: ListeningSocket, handle: SocketHandle): Promise<boolean> {
  const { promise: isClosed, resolve } = Promise.withResolvers<boolean>();
  const own: { address?: string; port?: number } = {};
  if (handle.getsockname(own) !== 0 || own.port === undefined) return false;
  handle.listen(0);
  const filler = connect({ port: own.port, host: reachable(own.address) });
  filler.on('error', () => {});
  // Node connects in the next tick, before any connection is accepted.
  process.nextTick(() => {
    const isFull = isConnected(filler);
    if (isFull) socket.close();
    else handle.listen(BACKLOG);
    filler.destroy();
    resolve(isFull);
  });
  return isClosed;
}

/** Returns the address by which this machine reaches a socket. */
function reachable(address = '0.0.0.0'): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

/** Resolves after a number of turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}
