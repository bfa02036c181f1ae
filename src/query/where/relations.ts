import { authorize } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { checkFieldName, type Field } from '../../schema/model.ts';
import { pointerOf } from '../../values/pointer.ts';
import type { Filter } from '../filter.ts';
import { resolveName } from '../keys.ts';
import { guardedFilter, never, pointerId, type WhereContext } from './context.ts';

/** Records whose Relation field holds one of the Pointers; Pointers to another class are in no such Relation. */
export function hasMember(relation: Field, pointers: readonly JsonValue[]): Filter {
  const memberIds = pointers.map((one) => pointerId(one, relation.targetClass)).filter((id) => id !== undefined);
  return memberIds.length === 0 ? never : { kind: 'hasMember', relation, memberIds };
}

/**
 * `$relatedTo: {object: Pointer, key}`: members of a record's Relation. The caller must be able to read the record.
 * @throws badQuery when malformed, permissionDenied, fieldDenied
 */
export function relatedTo(value: JsonValue, context: WhereContext): Filter {
  const owner = isJsonObject(value) ? pointerOf(own(value, 'object') ?? null) : undefined;
  const key = isJsonObject(value) ? own(value, 'key') : undefined;
  if (!owner || typeof key !== 'string') fail('badQuery', 'improper usage of $relatedTo');
  checkFieldName(key);
  const table = context.scope.schema.tables.get(owner.className);
  if (!table) return never;
  const grant = authorize(context.scope.principal, 'get', table, context.scope.schema);
  const relation = resolveName(key, grant)?.field;
  const objectId = table.fields.get('objectId');
  if (relation?.type !== 'Relation' || relation.targetClass !== context.grant.table.className || !objectId) return never;
  const filter = guardedFilter(grant, { kind: 'compare', field: objectId, op: 'eq', value: owner.objectId });
  return { kind: 'relatedTo', relation, ownerId: owner.objectId, owner: { table, filter } };
}
