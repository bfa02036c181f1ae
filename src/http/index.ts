export { rateLimitOf } from './endpoint/rate-limit.ts';
export { HttpServer } from './server.ts';
