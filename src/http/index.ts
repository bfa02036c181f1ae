export type { HttpOptions } from './server.ts';
export { HttpServer } from './server.ts';
