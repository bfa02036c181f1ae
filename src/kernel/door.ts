import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

/** Milliseconds without anything new after which all that was on its way has come, and how long to wait for them. */
const QUIET_MS = 50;
const QUIET_BOUND_MS = 2_000;
/** Milliseconds in which those that wait to be accepted are, when no more are let in. */
const EMPTYING_BOUND_MS = 1_000;

/** A socket that listens. */
export interface Door {
  /** Connections so far. */
  readonly accepted: number;
  /** Told of the next connection, in the same turn in which it is accepted. */
  onNext: (() => void) | undefined;
  /** Has the system complete no more connections than one that waits to be accepted. */
  holdBack(): void;
  /** Who waits to be accepted then is reset. */
  close(): void;
}

/** Goes on as before until nothing new comes, for two seconds at the most. @param arrivals how many there were so far */
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

/**
 * Closes a socket that listens at a moment when nobody waits to be accepted. Meanwhile the system holds back who comes; he is refused after, or
 * finds a successor.
 */
export async function closeDoor(door: Door): Promise<void> {
  const deadline = performance.now() + EMPTYING_BOUND_MS;
  door.holdBack();
  // One is accepted in each turn of the event loop.
  for (let seen = -1; seen !== door.accepted && performance.now() < deadline; ) {
    seen = door.accepted;
    await turns(2);
  }
  const { promise: isClosed, resolve } = Promise.withResolvers<void>();
  const close = () => {
    door.onNext = undefined;
    door.close();
    resolve();
  };
  // Right after one was accepted there is no other; or none comes at all.
  door.onNext = close;
  turns(2).then(() => {
    if (door.onNext) close();
  });
  await isClosed;
}

/** Resolves after so many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}
