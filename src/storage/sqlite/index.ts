export { SqliteEngine, storedFiles } from './engine.ts';
export { ProcessLock } from './lock.ts';
export { whenIndexed } from './log-index.ts';
export { SqliteRegistry } from './registry.ts';
export { stateOfRegistry } from './registry-state.ts';
