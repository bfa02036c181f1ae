export type { Database } from './database.ts';
export { connectDatabase } from './pool.ts';
