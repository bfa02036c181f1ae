import { useSyncExternalStore } from 'react';
import { createPortal } from 'react-dom';

let said = { text: '', count: 0 };
const listeners = new Set<() => void>();

/** Speaks a text to those who hear the page: saves, errors, numbers of results. */
export function announce(text: string): void {
  said = { text, count: said.count + 1 };
  for (const listener of listeners) listener();
}

/** The live region that `announce` speaks through; once on a page. */
export function Announcer() {
  const { text, count } = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
  return createPortal(
    <div role="status" className="visually-hidden">
      {/* The same text again is another node, so that it is spoken again. */}
      <span key={count}>{text}</span>
    </div>,
    document.body,
  );
}
