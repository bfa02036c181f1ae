import { authorize } from '../access/index.ts';
import type { TableSchema } from '../schema/model.ts';
import { resolveName } from './keys.ts';
import type { QueryScope } from './scope.ts';

/**
 * The table that a query is led to (`redirectClassNameForKey`): that of the members of a Relation, for clients who do not know it. As in Parse, a
 * key that is no Relation leads nowhere else. What the caller may read there is for the query itself.
 * @param table that the query is sent to, as the owner of the Relation
 * @returns `undefined` where the Relation's table is not there
 * @throws permissionDenied where the caller may read no owner; fieldDenied (119) for a hidden key; invalidFieldName (105)
 */
export function redirected(table: TableSchema, key: string, { schema, principal }: QueryScope): TableSchema | undefined {
  const field = resolveName(key, authorize(principal, 'get', table))?.field;
  return field?.type === 'Relation' ? schema.tables.get(field.targetClass ?? '') : table;
}
