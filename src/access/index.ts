export { actsAsMaster, authorize, authorizeSchema, mayCreateTable, refuseOutright } from './authorize.ts';
export type { Grant, RowGuard } from './grant.ts';
export { actorId, anonymous, invalid, master, type Principal } from './principal.ts';
