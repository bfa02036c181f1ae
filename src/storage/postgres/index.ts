export { PostgresEngine } from './engine.ts';
