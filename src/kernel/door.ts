import { connect } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { isConnected, type SocketHandle } from './socket-handle.ts';

/** Milliseconds without anything new after which all that was on its way has come, and how long to wait for them. */
const QUIET_MS = 50;
const QUIET_BOUND_MS = 1_000;
/** Milliseconds in which a moment is looked for at which nobody waits to be accepted. */
const CLOSING_BOUND_MS = 1_500;
/** Milliseconds after which a client has sent again what a full queue did not take (Linux: 200 at least). */
const RESEND_MS = 250;
/** What Node asks for: connections that may wait to be accepted. */
const BACKLOG = 511;

/** A socket that listens. */
export interface Door {
  /** Connections so far. */
  readonly accepted: number;
  /** `undefined` where it does not listen itself: another process does, which hands connections over. */
  readonly handle: SocketHandle | undefined;
  /** From now on nothing is read from connections that are accepted: clients who wait for their answers make no further ones. */
  park(): void;
  /** Those that were parked go on. */
  unpark(): void;
  /** Who waits to be accepted then is reset. */
  close(): void;
}

/** Goes on as before until nothing new comes, for a second at the most. @param arrivals how many there were so far */
export async function lastCall(arrivals: () => number): Promise<void> {
  const deadline = performance.now() + QUIET_BOUND_MS;
  let seen: number;
  do {
    seen = arrivals();
    await wait(QUIET_MS);
    // Timers come before sockets: after a long turn of the event loop it takes one more to read them.
    await turns(2);
  } while (seen !== arrivals() && performance.now() < deadline);
}

/** Closes a socket that listens at a moment when nobody waits to be accepted; within a second and a half in any case. */
export async function closeDoor(door: Door): Promise<void> {
  const deadline = performance.now() + CLOSING_BOUND_MS;
  door.park();
  try {
    do {
      const seen = door.accepted;
      await whenNobodyWaits(door, deadline);
      if (!door.handle || (await closeWhileFull(door, door.handle))) break;
      await wait(RESEND_MS);
      // Nobody comes, and the system does not connect at once.
      if (door.accepted === seen) break;
    } while (performance.now() < deadline);
    door.close();
  } finally {
    door.unpark();
  }
}

/** One is accepted in each turn of the event loop: after a turn without any, nobody waited a moment ago. */
async function whenNobodyWaits(door: Door, deadline: number): Promise<void> {
  let seen: number;
  do {
    seen = door.accepted;
    await nextTurn();
  } while (seen !== door.accepted && performance.now() < deadline);
}

/**
 * Lets one connection wait, and makes it: where it is completed at once nobody else waits, or can before the socket is closed. Clients who come
 * in these microseconds try again by themselves.
 * @returns whether it was closed
 */
async function closeWhileFull(door: Door, handle: SocketHandle): Promise<boolean> {
  const { promise: isClosed, resolve } = Promise.withResolvers<boolean>();
  const own: { address?: string; port?: number } = {};
  if (handle.getsockname(own) !== 0 || own.port === undefined) return false;
  handle.listen(0);
  const filler = connect({ port: own.port, host: reachable(own.address) });
  filler.on('error', () => {});
  // Node connects in the next tick, which is before any connection is accepted.
  process.nextTick(() => {
    const isFull = isConnected(filler);
    if (isFull) door.close();
    else handle.listen(BACKLOG);
    filler.destroy();
    resolve(isFull);
  });
  return isClosed;
}

/** Where a socket is reached from this machine. */
function reachable(address = '0.0.0.0'): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}

/** Resolves after so many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}
