export { SqliteEngine } from './engine.ts';
