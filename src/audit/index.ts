export { actorOf, adminObserver, adminWatch } from './admin-log.ts';
export { factsOf, type HttpRequest } from './request-facts.ts';
export { requestLog } from './request-log.ts';
export { deleteExpired, deleteOld } from './retention.ts';
export { timeline } from './timeline.ts';
