export {
  type AgentPermission,
  agentPermissions,
  isAgentPermission,
  maySilenceTools,
  obstacleTo,
  type ToolObstacle,
  type ToolRequirement,
} from './agent.ts';
export { actsAsMaster, authorize, grantFor, mayCreateTable, requireKey } from './authorize.ts';
export { bothOf, type Grant, type RowGuard } from './grant.ts';
export { actorId, anonymous, holdsKey, invalid, master, type Principal } from './principal.ts';
export { mayKnowTable, requireSchemaChange, requireSchemaRead } from './schema-rights.ts';
export { refuseOutright } from './system-tables.ts';
