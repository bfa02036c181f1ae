let turn = 0;
let isOpen = false;

/**
 * Records that a request has arrived, at its parser's event: requests of one turn of the event loop may share a lookup, since none of them was
 * sent after that.
 */
export function requestCame(): void {
  if (isOpen) return;
  isOpen = true;
  turn++;
  // Immediates follow the turn's sockets. Timers come after and must not use a lookup that is older than their turn.
  setImmediate(() => {
    isOpen = false;
  });
}

/** Returns the number of the turn in which requests have arrived; 0 outside such a turn. */
export const requestTurn = (): number => (isOpen ? turn : 0);
