export { limitOf } from './limits/address-limit.ts';
export { HttpServer } from './server.ts';
