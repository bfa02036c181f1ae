import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { checkWrapperKeys, namesRecord } from '../json/keys.ts';
import { mismatch, type ValueType } from './type.ts';

/**
 * `{__type: Pointer, className, objectId}`; stored as the objectId, since the schema has the class. An included record (`__type: Object`) that a
 * client sends back counts as its Pointer. Reference: types.md#pointer.
 */
export const pointerType: ValueType = {
  type: 'Pointer',
  storage: 'pointer',
  decode(value, field, className) {
    if (!isJsonObject(value) || (value.__type !== 'Pointer' && value.__type !== 'Object'))
      return mismatch(className, field, value);
    checkWrapperKeys(value);
    if (!namesRecord(value)) return fail('notAType', 'Pointer');
    return value.className === field.targetClass ? value.objectId : mismatch(className, field, value);
  },
};

/** Returns class and id of a full Pointer object. */
export function pointerOf(value: JsonValue): { className: string; objectId: string } | undefined {
  if (!isJsonObject(value) || own(value, '__type') !== 'Pointer') return undefined;
  const className = own(value, 'className');
  const objectId = own(value, 'objectId');
  return typeof className === 'string' && typeof objectId === 'string' ? { className, objectId } : undefined;
}

/**
 * `{__type: Relation, className}`. Clients send back whole records as they read them, so the value is checked and then ignored (null: nothing to
 * store); only operators change members. Reference: types.md#relation.
 */
export const relationType: ValueType = {
  type: 'Relation',
  storage: 'relation',
  decode(value, field, className) {
    if (!isJsonObject(value) || value.__type !== 'Relation') return mismatch(className, field, value);
    checkWrapperKeys(value);
    if (typeof value.className !== 'string') return fail('notAType', 'Relation');
    return value.className === field.targetClass ? null : mismatch(className, field, value);
  },
};
