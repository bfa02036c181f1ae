export {
  ADMIN,
  type AgentPermission,
  agentPermissions,
  type BearerVerdict,
  isAgentPermission,
  maySilenceTools,
  mayUse,
  mayView,
  obstacleTo,
  type ToolObstacle,
  type ToolRequirement,
} from './agent.ts';
export {
  actsAsMaster,
  authorize,
  grantFor,
  mayCreateTable,
  mayOnlyWhereHeld,
  permissionEffect,
  refuseOutright,
  requireKey,
  visibilityOf,
} from './authorize.ts';
export { deletionsOf } from './copies.ts';
export { bothOf, type Grant, type Mask, type Masks, type RowGuard, type SubjectNames, unseenIn } from './grant.ts';
export { actorId, anonymous, holdsKey, invalid, master, type Principal } from './principal.ts';
export type { ReadableTable, ReadableTables } from './readable.ts';
export { mayKnowTable, requireSchemaChange, requireSchemaRead, schemaViewFor } from './schema-rights.ts';
