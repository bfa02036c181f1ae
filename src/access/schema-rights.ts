import { fail } from '../errors/fail.ts';
import type { TableSchema } from '../schema/model.ts';
import { administers, obstacleTo } from './agent.ts';
import { grantFor } from './authorize.ts';
import { holdsKey, type Principal } from './principal.ts';

/** Schema changes need a key, or an agent that administers. @throws masterKeyRequired (403) */
export function requireSchemaChange(principal: Principal): void {
  if (!administers(principal)) fail('masterKeyRequired');
}

/** Schema reads need a key, or an agent that may view. @throws masterKeyRequired (403) */
export function requireSchemaRead(principal: Principal): void {
  if (obstacleTo(principal, { needs: ['mcp:view'], isAdvanced: false }) !== null) fail('masterKeyRequired');
}

const knowing = ['find', 'get', 'create', 'update'] as const;

/** Whether a table is shown to a caller who reads schemas: keys know all, users those that they may do something with. */
export function mayKnowTable(principal: Principal, table: TableSchema): boolean {
  return holdsKey(principal) || administers(principal) || knowing.some((action) => grantFor(principal, action, table) !== null);
}
