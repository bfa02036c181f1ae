export { PostgresEngine } from './engine.ts';
export { lookAtDatabase } from './schema/look.ts';
