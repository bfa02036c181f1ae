export { logRequest } from './request-log.ts';
export { deleteOld } from './retention.ts';
export { timeline } from './timeline.ts';
