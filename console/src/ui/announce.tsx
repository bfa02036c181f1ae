import { useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';

let announced = { text: '', count: 0 };
const listeners = new Set<() => void>();

/** Announces a text to screen readers: saves, errors, numbers of results. */
export function announce(text: string): void {
  announced = { text, count: announced.count + 1 };
  for (const listener of listeners) listener();
}

/** The live region of `announce`; once per page. */
export function Announcer() {
  const { text, count } = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => announced,
  );
  return createPortal(
    <div role="status" className="visually-hidden">
      {/* A repeated text gets a new node, so that it is announced again. */}
      <span key={count}>{text}</span>
    </div>,
    document.body,
  );
}
