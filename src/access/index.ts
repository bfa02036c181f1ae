export {
  actsAsMaster,
  authorize,
  grantFor,
  isEverAllowed,
  isLimitedToUserFields,
  mayCreateTable,
  needsMasterKey,
  permissionEffect,
  refuseOutright,
  requireKey,
  visibilityOf,
} from './authorize.ts';
export { deletionsOf, holdsCopies } from './copies.ts';
export { bothOf, type Grant, hiddenFieldsOf, type Mask, type Masks, type RowGuard, type SubjectNames } from './grant.ts';
export {
  ADMIN,
  type AgentPermission,
  actorId,
  agentPermissions,
  anonymous,
  type BearerVerdict,
  credentialNameOf,
  holdsKey,
  invalid,
  isAdministrator,
  isAgentPermission,
  master,
  maySilenceTools,
  mayUse,
  mayView,
  obstacleTo,
  type Principal,
  type ToolObstacle,
  type ToolRequirement,
  viewerOf,
} from './principal.ts';
export type { ReadableTable, ReadableTables } from './readable.ts';
export {
  listedTables,
  mayKnowTable,
  requireMasterKey,
  requireSchemaChange,
  requireSchemaRead,
  schemaViewFor,
} from './schema-rights.ts';
