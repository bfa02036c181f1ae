import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { checkClassName } from '../../schema/model.ts';
import { distinctAhead } from '../json/checked-ahead.ts';
import { type InferredType, inferType } from '../json/infer.ts';
import { checkKeys, checkWrapperKeys, namesRecord, withoutIncluded } from '../json/keys.ts';
import { withUnique } from './equality.ts';

/** Members that a relation operator adds or removes; the steps of a Batch keep their order. */
export interface RelationStep {
  readonly op: 'add' | 'remove';
  readonly memberIds: readonly string[];
}

/** A field operator whose form is checked. Reference: records.md#field-operators. */
export type Operator =
  | { readonly op: 'increment'; readonly amount: number }
  | { readonly op: 'add' | 'addUnique' | 'remove'; readonly objects: readonly JsonValue[] }
  | { readonly op: 'delete' }
  | { readonly op: 'setOnInsert'; readonly value: JsonValue }
  /** `className` is undefined if no member is named; then nothing changes. */
  | { readonly op: 'relation'; readonly className: string | undefined; readonly steps: readonly RelationStep[] };

/** Whether a field's value in a body is an operator, well-formed or not: an object with a key `__op` of its own. */
export function isOperator(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, '__op');
}

/**
 * Parses an operator. The value of SetOnInsert is not checked further: decode it like a plain value of the field.
 * @param value an object for which `isOperator` holds
 * @throws unknownOperator (108); badOperator (107) for a malformed one; notAType (111), invalidClassName (103) for members of a
 * relation; invalidFieldName (105), invalidNestedKey (121) for keys inside the objects
 */
export function parseOperator(value: JsonObject): Operator {
  checkWrapperKeys(value);
  const name = value.__op;
  switch (name) {
    case 'Increment':
      if (typeof value.amount !== 'number' || !Number.isFinite(value.amount))
        return fail('badOperator', 'Increment needs a number amount');
      return { op: 'increment', amount: value.amount };
    case 'Add':
      return { op: 'add', objects: elementsOf(value, name) };
    case 'AddUnique':
      return { op: 'addUnique', objects: elementsOf(value, name) };
    case 'Remove':
      return { op: 'remove', objects: elementsOf(value, name) };
    case 'Delete':
      return { op: 'delete' };
    case 'SetOnInsert':
      if (value.amount === undefined) return fail('badOperator', 'SetOnInsert needs an amount');
      return { op: 'setOnInsert', value: value.amount };
    case 'AddRelation':
    case 'RemoveRelation':
      return relationOf([value]);
    case 'Batch':
      if (!Array.isArray(value.ops)) return fail('badOperator', 'Batch needs an array of ops');
      return relationOf(value.ops);
    default:
      if (typeof name !== 'string') return fail('badOperator', '__op must be a string');
      return fail('unknownOperator', name.slice(0, limits.nameLength));
  }
}

/** Returns the type that an operator gives a new field; `null` for those that give none (Delete, SetOnInsert of null, no members). */
export function operatorType(operator: Operator): InferredType | null {
  switch (operator.op) {
    case 'increment':
      return { type: 'Number' };
    case 'add':
    case 'addUnique':
    case 'remove':
      return { type: 'Array' };
    case 'setOnInsert':
      return inferType(operator.value);
    case 'relation':
      return operator.className === undefined ? null : { type: 'Relation', targetClass: operator.className };
    case 'delete':
      return null;
  }
}

function objectsOf(value: JsonObject, name: string): JsonValue[] {
  return Array.isArray(value.objects) ? value.objects : fail('badOperator', `${name} needs an array of objects`);
}

function elementsOf(value: JsonObject, name: string): readonly JsonValue[] {
  const objects = withoutIncluded(objectsOf(value, name));
  checkKeys(objects);
  return objects;
}

function relationOf(operators: readonly JsonValue[]): Operator {
  let className: string | undefined;
  const steps: RelationStep[] = [];
  for (const operator of operators) {
    if (!isJsonObject(operator) || (operator.__op !== 'AddRelation' && operator.__op !== 'RemoveRelation'))
      return fail('badOperator', 'Batch takes AddRelation and RemoveRelation only');
    const memberIds: string[] = [];
    for (const member of objectsOf(operator, operator.__op)) {
      if (!isJsonObject(member) || (member.__type !== 'Pointer' && member.__type !== 'Object'))
        return fail('badOperator', `${operator.__op} needs Pointers`);
      if (!namesRecord(member)) return fail('notAType', 'Pointer');
      if (className === undefined) checkClassName(member.className);
      else if (className !== member.className) return fail('badOperator', `${operator.__op} needs Pointers of one class`);
      className = member.className;
      memberIds.push(member.objectId);
    }
    if (memberIds.length > 0) steps.push({ op: operator.__op === 'AddRelation' ? 'add' : 'remove', memberIds });
  }
  return { op: 'relation', className, steps };
}

/**
 * Returns the plain value that an operator stores in a new record, `undefined` for none. As in Parse, except that AddUnique drops duplicates
 * here too. Relation operators store nothing in the record: their steps are links. Reference: records.md#field-operators.
 */
export function flattenForCreate(operator: Operator): JsonValue | undefined {
  switch (operator.op) {
    case 'increment':
      return operator.amount;
    case 'add':
      return operator.objects as JsonValue[];
    case 'addUnique':
      return distinctAhead(operator.objects) ?? withUnique([], operator.objects);
    case 'remove':
      return [];
    case 'setOnInsert':
      return operator.value;
    case 'delete':
    case 'relation':
      return undefined;
  }
}
