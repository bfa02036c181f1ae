import type { Field, FieldType } from '../schema/model.ts';
import { aclType } from './acl.ts';
import { dateType } from './date.ts';
import { fileType, privateFileType } from './file.ts';
import { arrayType, objectType } from './json-types.ts';
import { pointerType, relationType } from './pointer.ts';
import { booleanType, htmlType, numberType, stringType } from './scalar-types.ts';
import type { Storage, ValueType } from './type.ts';

export { type InferredType, inferType } from './infer.ts';
export { parseIsoDate } from './iso.ts';
export { checkText, parseRequestJson } from './json-input.ts';
export { parseScannedJson, scanJson } from './json-long.ts';
export { checkKeys, checkPath } from './keys.ts';
export { applyEdits } from './operators/apply.ts';
export { flattenForCreate } from './operators/create.ts';
export { isOperator, type Operator, operatorType, parseOperator, type RelationStep } from './operators/parse.ts';
export type { Storage, StoredValue, ValueType } from './type.ts';

/** The wire types by name (SPEC "Wire types"). */
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

/** The wire type of a field. */
export function valueTypeOf(field: Field): ValueType {
  return valueTypes.get(field.type) as ValueType;
}

/** How the values of a field lie in its column. */
export function storageOf(field: Field): Storage {
  return valueTypeOf(field).storage;
}
