export { ProcessLock } from './cluster/exclusive-access.ts';
export { SqliteEngine } from './engine.ts';
export { whenIndexed } from './file/wal-index.ts';
export { stateOfRegistry } from './registry/registry-state.ts';
export { SqliteRegistry } from './registry.ts';
export { pendingOfRegistry } from './schema/look.ts';
export { storedFiles } from './stored-files.ts';
