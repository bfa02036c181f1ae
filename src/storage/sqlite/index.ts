export { SqliteEngine } from './engine.ts';
export { ProcessLock } from './lock.ts';
export { SqliteRegistry } from './registry.ts';
