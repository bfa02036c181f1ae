import type { RowGuard } from '../../access/index.ts';
import { isJsonObject, own } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { StoredRecord } from './record.ts';
import { inOrder } from './values.ts';

/** Whether a guard depends on other records, so that only the database can decide. */
export function dependsOnOtherRecords(guard: RowGuard): boolean {
  switch (guard.kind) {
    case 'subject':
    case 'sources':
      return true;
    case 'all':
    case 'any':
      return guard.guards.some(dependsOnOtherRecords);
    case 'not':
      return dependsOnOtherRecords(guard.guard);
    default:
      return false;
  }
}

/** Whether a guard gives access to a record, judged by the record alone. */
export function isAllowed(guard: RowGuard, table: TableSchema, record: StoredRecord): boolean {
  switch (guard.kind) {
    case 'acl':
      return isGiven(guard.right, guard.identities, table, record);
    case 'record': {
      const field = table.fields.get('objectId');
      return field !== undefined && record.value(field) === guard.objectId;
    }
    case 'oneOf': {
      const field = table.fields.get(guard.field);
      return field !== undefined && guard.values.includes(record.value(field) as string | null);
    }
    case 'subject':
    case 'sources':
      return false;
    case 'all':
      return guard.guards.every((part) => isAllowed(part, table, record));
    case 'any':
      return guard.guards.some((part) => isAllowed(part, table, record));
    case 'not':
      return !isAllowed(guard.guard, table, record);
    case 'userFields':
      return guard.fields.some((name) => holdsUser(name, guard.userId, table, record));
  }
}

/** An absent or empty ACL restricts nobody (permissions.md#acl). */
function isGiven(right: 'read' | 'write', identities: readonly string[], table: TableSchema, record: StoredRecord): boolean {
  const field = table.fields.get('ACL');
  const acl = field && record.place({ field, path: [] });
  if (!isJsonObject(acl) || Object.keys(acl).length === 0) return true;
  return identities.some((identity) => {
    const rights = own(acl, identity);
    return isJsonObject(rights) && own(rights, right) === true;
  });
}

function holdsUser(name: string, userId: string, table: TableSchema, record: StoredRecord): boolean {
  const field = table.fields.get(name);
  if (field?.type === 'Pointer' && field.targetClass === '_User') return record.value(field) === userId;
  if (field?.type !== 'Array') return false;
  const users = record.place({ field, path: [] });
  const user = { kind: 'pointer', className: '_User', objectId: userId } as const;
  return Array.isArray(users) && users.some((element) => inOrder(element, 'eq', user));
}
