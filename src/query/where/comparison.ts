import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, WEEK_MS } from '../../kernel/time.ts';
import type { FieldRef, Filter, Inequality, JsonOperand } from '../model/filter.ts';
import {
  always,
  anyOf,
  columnValue,
  type FieldOperator,
  isPlain,
  jsonOperand,
  negate,
  never,
  spend,
  type WhereContext,
} from './context.ts';
import { hasMember } from './members.ts';

/** Equality, bare or as `$eq`. On an Array a scalar or Pointer matches an element; null matches absence. Reference: queries.md#comparison. */
export const equals: FieldOperator = (ref, value) => {
  refuseRelativeTime(value);
  if (value === null) return negate(present(ref));
  if (ref === null) return never;
  const { field } = ref;
  if (ref.path.length > 0) return atPlace(ref, [value]);
  if (isPlain(field)) {
    const stored = columnValue(field, value);
    return stored === undefined ? never : { kind: 'compare', field, op: 'eq', value: stored };
  }
  switch (field.type) {
    case 'Relation':
      return hasMember(field, [value]);
    case 'Array':
      return Array.isArray(value) ? sameJson(ref, jsonOperand(value)) : { kind: 'hasAny', ref, operands: [jsonOperand(value)] };
    case 'Object':
      return isJsonObject(value) ? sameJson(ref, jsonOperand(value)) : never;
    default:
      return sameFile(ref, value);
  }
};

/** `$in`; null among the values matches absence. @throws badConstraint for anything but an array */
export const oneOf: FieldOperator = (ref, value, context) => {
  if (!Array.isArray(value)) fail('badConstraint', 'bad $in value');
  return isOneOf(ref, value, context);
};

/** `$nin`: everything that `$in` does not match. @throws badConstraint for anything but an array */
export const noneOf: FieldOperator = (ref, value, context) => {
  if (!Array.isArray(value)) fail('badConstraint', 'bad $nin value');
  return negate(isOneOf(ref, value, context));
};

/** `$exists`. @throws badConstraint for anything but a boolean */
export const exists: FieldOperator = (ref, value) => {
  if (typeof value !== 'boolean') fail('badConstraint', 'bad $exists value');
  return value ? present(ref) : negate(present(ref));
};

/** `$lt`, `$lte`, `$gt`, `$gte`: values of the field's own type only; on an Array an element matches; Objects have no order. */
export function inequality(op: Inequality): FieldOperator {
  return (ref, value, context) => {
    if (isRelativeTime(value)) return relative(ref, op, value as JsonObject, context);
    if (ref === null || value === null) return never;
    if (ref.path.length > 0) {
      const operand = jsonOperand(value);
      return operand.kind === 'pointer' || operand.kind === 'json' ? never : { kind: 'jsonCompare', ref, op, operand };
    }
    if (ref.field.type === 'Pointer') return never;
    if (ref.field.type === 'Array') {
      const operand = jsonOperand(value);
      return hasOrder(operand) ? { kind: 'hasOrdered', ref, op, operand } : never;
    }
    const stored = columnValue(ref.field, value);
    return stored === undefined ? never : { kind: 'compare', field: ref.field, op, value: stored };
  };
}

type Ordered = Extract<JsonOperand, { kind: 'string' | 'number' | 'date' }>;
const hasOrder = (operand: JsonOperand): operand is Ordered => ['string', 'number', 'date'].includes(operand.kind);

function relative(ref: FieldRef | null, op: Inequality, value: JsonObject, context: WhereContext): Filter {
  if (ref !== null && ref.field.type !== 'Date') refuseRelativeTime(value);
  const instant = relativeInstant(own(value, '$relativeTime'), context.scope.now ?? Date.now());
  return ref === null ? never : { kind: 'compare', field: ref.field, op, value: instant };
}

function present(ref: FieldRef | null): Filter {
  if (ref === null) return never;
  return ref.field.type === 'Relation' ? always : { kind: 'exists', ref };
}

function isOneOf(ref: FieldRef | null, values: readonly JsonValue[], context: WhereContext): Filter {
  const given = values.filter((value) => value !== null);
  const absent = given.length < values.length ? negate(present(ref)) : never;
  return anyOf([absent, isOneOfGiven(ref, given, context)]);
}

function isOneOfGiven(ref: FieldRef | null, values: readonly JsonValue[], context: WhereContext): Filter {
  values.forEach(refuseRelativeTime);
  if (ref === null || values.length === 0) return never;
  const { field } = ref;
  if (ref.path.length > 0) {
    spend(context, values.length);
    return atPlace(ref, values);
  }
  if (isPlain(field)) {
    const stored = values.map((value) => columnValue(field, value)).filter((value) => value !== undefined);
    return stored.length === 0 ? never : { kind: 'in', field, values: stored };
  }
  if (field.type === 'Relation') return hasMember(field, values);
  if (field.type === 'Array') {
    const elements = values.filter((value) => !Array.isArray(value)).map(jsonOperand);
    const wholes = values.filter(Array.isArray);
    spend(context, wholes.length);
    return anyOf([
      elements.length === 0 ? never : { kind: 'hasAny', ref, operands: elements },
      ...wholes.map((value) => sameJson(ref, jsonOperand(value))),
    ]);
  }
  spend(context, values.length);
  return anyOf(values.map((value) => equals(ref, value, context, {})));
}

/** Inside an Object: the place itself, or an element of an array there. */
function atPlace(ref: FieldRef, values: readonly JsonValue[]): Filter {
  const operands = values.map(jsonOperand);
  const elements = operands.filter((_, at) => !Array.isArray(values[at]));
  return anyOf([
    ...operands.map((operand) => sameJson(ref, operand)),
    elements.length === 0 ? never : { kind: 'hasAny', ref, operands: elements },
  ]);
}

/** A File is compared by its stored name; url and flags change when it is attached (queries.md#comparison). */
function sameFile(ref: FieldRef, value: JsonValue): Filter {
  if (!isJsonObject(value) || own(value, '__type') !== 'File') return never;
  const name = own(value, 'name');
  return typeof name === 'string' ? sameJson({ field: ref.field, path: ['name'] }, jsonOperand(name)) : never;
}

const sameJson = (ref: FieldRef, operand: JsonOperand): Filter => ({ kind: 'jsonCompare', ref, op: 'eq', operand });

const units: ReadonlyMap<string, number> = new Map(
  (
    [
      [365 * DAY_MS, 'yr yrs year years'],
      [WEEK_MS, 'wk wks week weeks'],
      [DAY_MS, 'd day days'],
      [HOUR_MS, 'hr hrs hour hours'],
      [MINUTE_MS, 'min mins minute minutes'],
      [SECOND_MS, 'sec secs second seconds'],
    ] as const
  ).flatMap(([length, names]) => names.split(' ').map((name) => [name, length] as const)),
);

/** Whether an operand is `{$relativeTime: ...}`. */
export function isRelativeTime(value: JsonValue): boolean {
  return isJsonObject(value) && Object.hasOwn(value, '$relativeTime');
}

/** Refuses `$relativeTime` elsewhere than with `$lt $lte $gt $gte` on Date fields (queries.md#relative-time). @throws badConstraint (107) */
export function refuseRelativeTime(value: JsonValue): void {
  if (isRelativeTime(value)) fail('badConstraint', '$relativeTime can only be used with $lt, $lte, $gt and $gte on a Date field');
}

/**
 * Returns the instant that `"now"`, `"3 days 2 hours ago"` or `"in 2 weeks"` names, in milliseconds since 1970.
 * Reference: queries.md#relative-time.
 * @param now milliseconds since 1970
 * @throws badConstraint (107) for any other text
 */
export function relativeInstant(text: JsonValue | undefined, now: number): number {
  if (typeof text !== 'string' || text.length > 200) refuse('should be a short text');
  const words = text.trim().toLowerCase().split(/\s+/);
  if (words.length === 1 && words[0] === 'now') return now;
  const future = words[0] === 'in';
  const past = words[words.length - 1] === 'ago';
  if (future === past) refuse("should either start with 'in' or end with 'ago'");
  const parts = future ? words.slice(1) : words.slice(0, -1);
  if (parts.length === 0 || parts.length % 2 !== 0) refuse('should be pairs of a number and a unit');
  let length = 0;
  for (let at = 0; at < parts.length; at += 2) {
    const unit = units.get(parts[at + 1] as string);
    if (unit === undefined || !/^\d{1,9}$/.test(parts[at] as string)) refuse('should be pairs of a number and a unit');
    length += Number(parts[at]) * unit;
  }
  const instant = future ? now + length : now - length;
  if (Math.abs(instant) > 8.64e15) refuse('is out of range');
  return instant;
}

function refuse(why: string): never {
  fail('badConstraint', `bad $relativeTime: ${why}`);
}
