export { actorOf, adminObserver, adminWatch } from './admin-log.ts';
export { logTableOf } from './log-table.ts';
export { factsOf, type HttpRequest } from './request-facts.ts';
export { requestLog } from './request-log.ts';
export { deleteExpired, deleteOld } from './retention.ts';
export { type Column, ownColumns, ownValues, timeline } from './timeline.ts';
