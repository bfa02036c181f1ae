import { master } from '../../access/index.ts';
import type { Store } from '../../storage/port.ts';
import type { FileKeeper, RecordContext, WriteHooks } from '../index.ts';

/** Attaches nothing and refuses nothing. */
export const noFiles: FileKeeper = { attach: () => [], resolve: async () => ({ kept: new Set(), granted: new Set() }) };

/** Returns a context that writes as the master of a store, without files. */
export function masterContext(store: Store, rules: WriteHooks['rules'] = new Map()): RecordContext {
  return { appId: 'app', store, principal: master, hooks: { observers: [], rules, files: noFiles }, referer: null };
}
