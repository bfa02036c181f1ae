import { useSyncExternalStore } from 'react';

/** State of the service that all pages show. */
export interface Status {
  /** Whether the last request found no service. */
  readonly isOffline: boolean;
  /** Whether the session has ended while a page is open. */
  readonly isSignedOut: boolean;
  /** Whether the service serves another build of the console than this one. */
  readonly isOutdated: boolean;
}

let status: Status = { isOffline: false, isSignedOut: false, isOutdated: false };
const listeners = new Set<() => void>();

export function setStatus(change: Partial<Status>): void {
  const next = { ...status, ...change };
  if (JSON.stringify(next) === JSON.stringify(status)) return;
  status = next;
  for (const listener of listeners) listener();
}

export function currentStatus(): Status {
  return status;
}

/** Calls `listener` at each change. @returns a function that unsubscribes */
export function onStatus(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useStatus(): Status {
  return useSyncExternalStore(onStatus, currentStatus);
}
