export { logRequest } from './request-log.ts';
export { Retention } from './retention.ts';
