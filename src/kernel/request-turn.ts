let turn = 0;
let isOpen = false;

/**
 * Notes that a request has come, by the event that its parser raises: requests of one turn of the event loop may share what is looked up for
 * each of them, since none of them was sent after that.
 */
export function requestCame(): void {
  if (isOpen) return;
  isOpen = true;
  turn++;
  // Immediates follow the turn's sockets; timers, whose looks would be older than requests, come after.
  setImmediate(() => {
    isOpen = false;
  });
}

/** The number of the turn in which requests have come; 0 outside such a turn. */
export const requestTurn = (): number => (isOpen ? turn : 0);
