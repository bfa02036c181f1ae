import { fail } from '../errors/fail.ts';
import type { Schema, TableSchema } from '../schema/model.ts';
import { isHidden, isSealed } from '../schema/system-tables.ts';
import { grantFor } from './authorize.ts';
import { administers, holdsKey, mayView, type Principal } from './principal.ts';
import { visibilityFor } from './protected-fields.ts';

/** Schema changes need a key, or an agent of an administrator. @throws masterKeyRequired (403) */
export function requireSchemaChange(principal: Principal): void {
  if (!administers(principal)) fail('masterKeyRequired');
}

/** Schema reads need a key, or an agent that may view. @throws masterKeyRequired (403) */
export function requireSchemaRead(principal: Principal): void {
  if (!mayView(principal)) fail('masterKeyRequired');
}

/** Snapshots of a whole schema are read, compared and applied with the master key. @throws masterKeyRequired (403) */
export function requireMasterKey({ kind }: Principal): void {
  if (kind !== 'master') fail('masterKeyRequired');
}

const knowing = ['find', 'get', 'create', 'update'] as const;

/** Whether a table is shown to a caller that reads schemas: keys and administrators see all but the hidden ones, users those that they may use. */
export function mayKnowTable(principal: Principal, table: TableSchema): boolean {
  if (isHidden(table.className)) return false;
  return administers(principal) || knowing.some((action) => grantFor(principal, action, table) !== null);
}

/** Returns the tables that lists show a caller, in schema order. The log of administrators is no part of what a system models; it is read by its name. */
export const listedTables = ({ tables }: Pick<Schema, 'tables'>, principal: Principal): TableSchema[] =>
  [...tables.values()].filter((table) => !isSealed(table.className) && mayKnowTable(principal, table));

/** What of a table's schema a caller does not see, whatever it may do with the records. */
interface SchemaView {
  readonly hiddenFields: ReadonlySet<string>;
  /** Whether `protectedFields` is shown. */
  readonly showsProtectedFields: boolean;
}

const whole: SchemaView = { hiddenFields: new Set(), showsProtectedFields: true };

/** Keys see all of a schema, users what is not hidden from them. */
export function schemaViewFor(principal: Principal, table: TableSchema): SchemaView {
  if (holdsKey(principal)) return whole;
  return { hiddenFields: visibilityFor(principal, table).hiddenFields, showsProtectedFields: false };
}
