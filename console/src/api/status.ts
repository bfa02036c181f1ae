import { useSyncExternalStore } from 'react';

/** What all pages must know of the service. */
export interface Status {
  /** Whether the last request found no service. */
  readonly isOffline: boolean;
  /** Whether the session has ended under an open page. */
  readonly isSignedOut: boolean;
  /** Whether the service has another build of the console than this one. */
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

/** Calls `listener` at each change. @returns what ends that. */
export function onStatus(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useStatus(): Status {
  return useSyncExternalStore(onStatus, currentStatus);
}
