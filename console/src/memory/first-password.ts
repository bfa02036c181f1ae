import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();

/** Stores whether the user signed in with the password that the first start generated. */
export function noteFirstPassword(appId: string, userId: string, isFirst: boolean): void {
  try {
    if (isFirst) localStorage.setItem(nameOf(appId, userId), '1');
    else localStorage.removeItem(nameOf(appId, userId));
  } catch {}
  for (const listener of listeners) listener();
}

export function useFirstPassword(appId: string, userId: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(nameOf(appId, userId)) !== null,
  );
}

function nameOf(appId: string, userId: string): string {
  return `console.first-password.${JSON.stringify([appId, userId])}`;
}
