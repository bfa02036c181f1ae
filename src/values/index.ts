import type { Field, FieldType } from '../schema/model.ts';
import { aclType } from './types/acl.ts';
import { fileType, privateFileType } from './types/file.ts';
import { arrayType, booleanType, dateType, htmlType, numberType, objectType, stringType } from './types/plain-types.ts';
import { pointerType, relationType } from './types/pointer.ts';
import type { Storage, ValueType } from './types/type.ts';

export { fieldsText } from './json/checked-ahead.ts';
export { type InferredType, inferType } from './json/infer.ts';
export { parseIsoDate } from './json/iso.ts';
export { checkText, parseRequestJson } from './json/json-input.ts';
export { parseJson, parseScannedJson, scanJson } from './json/json-long.ts';
export { bodyBounds, type JsonBounds } from './json/json-scan.ts';
export { checkKeys, checkPath } from './json/keys.ts';
export { checkAhead, forgetChecked } from './large-values.ts';
export { applyEdits } from './operators/apply.ts';
export { applyEditsApart, editsText } from './operators/edit-thread.ts';
export {
  flattenForCreate,
  isOperator,
  type Operator,
  operatorType,
  parseOperator,
  type RelationStep,
} from './operators/parse.ts';
export { ValueConverter } from './retype/unconvertible.ts';
export { readBooleanText } from './texts/booleans.ts';
export { type DateOrder, dateOrders, isDateLike, readDateText } from './texts/dates.ts';
export { readNumberText } from './texts/numbers.ts';
export type { Storage, StoredValue, ValueType } from './types/type.ts';

/** The wire types by name. Reference: types.md#wire-types. */
export const valueTypes: ReadonlyMap<FieldType, ValueType> = new Map(
  [
    stringType,
    numberType,
    booleanType,
    dateType,
    pointerType,
    relationType,
    fileType,
    privateFileType,
    arrayType,
    objectType,
    htmlType,
    aclType,
  ].map((type) => [type.type, type]),
);

/** Returns the wire type of a field. */
export function valueTypeOf(field: Field): ValueType {
  return valueTypes.get(field.type) as ValueType;
}

/** Returns how the values of a field are stored in its column. */
export function storageOf(field: Field): Storage {
  return valueTypeOf(field).storage;
}
