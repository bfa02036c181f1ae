export { actsAsMaster, authorize, grantFor, mayCreateTable, requireKey } from './authorize.ts';
export { bothOf, type Grant, type RowGuard } from './grant.ts';
export { actorId, anonymous, holdsKey, invalid, master, type Principal } from './principal.ts';
export { refuseOutright } from './system-tables.ts';
