export { SqliteEngine, storedFiles } from './engine.ts';
export { ProcessLock } from './lock.ts';
export { SqliteRegistry, stateOfRegistry } from './registry.ts';
