export { actsAsMaster, authorize, authorizeSchema, grantFor, mayCreateTable } from './authorize.ts';
export { bothOf, type Grant, type RowGuard } from './grant.ts';
export { actorId, anonymous, invalid, master, type Principal } from './principal.ts';
export { refuseOutright } from './system-tables.ts';
