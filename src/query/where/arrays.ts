import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { FieldRef } from '../filter.ts';
import { parseRegex } from '../regex/index.ts';
import { allOf, type FieldOperator, jsonOperand, never, spend } from './context.ts';
import { hasMember } from './relations.ts';

/**
 * `$all`: the Array has an element for each of the values, which are all `{$regex}` or none. An empty list matches nothing.
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
      ? patterns.map((one) => parseRegex(own(one, '$regex') as JsonValue, own(one, '$options'), context.spent.patterns))
      : value.map(jsonOperand);
  if (ref === null || value.length === 0) return never;
  if (ref.field.type === 'Relation') return allOf(value.map((one) => hasMember(ref.field, [one])));
  return holdsArray(ref) ? { kind: 'hasAll', ref, operands } : never;
};

/** `$containedBy`: the Array is there and every element is among the values. @throws badConstraint */
export const containedBy: FieldOperator = (ref, value) => {
  if (!Array.isArray(value)) fail('badConstraint', 'bad $containedBy: should be an array');
  return ref !== null && holdsArray(ref) ? { kind: 'hasOnly', ref, operands: value.map(jsonOperand) } : never;
};

const holdsArray = (ref: FieldRef) => ref.path.length > 0 || ref.field.type === 'Array';

const isPattern = (value: JsonValue): value is JsonObject => isJsonObject(value) && Object.hasOwn(value, '$regex');
