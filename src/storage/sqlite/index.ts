export { SqliteEngine, storedFiles } from './engine.ts';
export { ProcessLock } from './cluster/exclusive-access.ts';
export { whenIndexed } from './file/wal-index.ts';
export { SqliteRegistry } from './registry.ts';
export { stateOfRegistry } from './registry/registry-state.ts';
