import { authorize } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { checkFieldName, type Field } from '../../schema/model.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { FieldRef, Filter } from '../model/filter.ts';
import { resolveName } from '../model/names.ts';
import { budgetOf, parseRegex } from '../regex/index.ts';
import { allOf, type FieldOperator, guardedFilter, jsonOperand, never, pointerId, spend, type WhereContext } from './context.ts';

/** Matches records whose Relation field holds one of the Pointers; Pointers to another class never match. */
export function hasMember(relation: Field, pointers: readonly JsonValue[]): Filter {
  const memberIds = pointers.map((one) => pointerId(one, relation.targetClass)).filter((id) => id !== undefined);
  return memberIds.length === 0 ? never : { kind: 'hasMember', relation, memberIds };
}

/**
 * Parses `$relatedTo: {object: Pointer, key}`: members of a record's Relation. The caller must be able to read the record.
 * Reference: queries.md#relations.
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

/**
 * `$all`: the Array has an element for each of the values, of which all are `{$regex}` or none. An empty list matches nothing.
 * Reference: queries.md#arrays.
 * @throws badConstraint, badQuery for a bad pattern
 */
export const hasAll: FieldOperator = (ref, value, context) => {
  if (!Array.isArray(value)) fail('badConstraint', 'bad $all value');
  const patterns = value.filter(isPattern);
  if (patterns.length > 0 && patterns.length < value.length)
    fail('badConstraint', 'All $all values must be of regex type or none');
  spend(context, value.length);
  const operands =
    patterns.length > 0
      ? patterns.map((one) => parseRegex(own(one, '$regex') as JsonValue, own(one, '$options'), budgetOf(context.spent.patterns)))
      : value.map(jsonOperand);
  if (ref === null || value.length === 0) return never;
  if (ref.field.type === 'Relation') return allOf(value.map((one) => hasMember(ref.field, [one])));
  return holdsArray(ref) ? { kind: 'hasAll', ref, operands } : never;
};

/** `$containedBy`: the Array is present and every element is among the values. @throws badConstraint */
export const containedBy: FieldOperator = (ref, value) => {
  if (!Array.isArray(value)) fail('badConstraint', 'bad $containedBy: should be an array');
  return ref !== null && holdsArray(ref) ? { kind: 'hasOnly', ref, operands: value.map(jsonOperand) } : never;
};

const holdsArray = (ref: FieldRef) => ref.path.length > 0 || ref.field.type === 'Array';

const isPattern = (value: JsonValue): value is JsonObject => isJsonObject(value) && Object.hasOwn(value, '$regex');
