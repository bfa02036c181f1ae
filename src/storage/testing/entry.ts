import type { SystemEntry } from '../registry.ts';

/** Returns a system as a registry has it, for unit tests. */
export const entryOf = (appId: string, more: Partial<SystemEntry> = {}): SystemEntry => ({
  id: appId,
  appId,
  place: appId,
  name: appId,
  createdAt: 1,
  masterKeyHash: 'hash',
  heldAt: null,
  keySalt: null,
  ...more,
});
