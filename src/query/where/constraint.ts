import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { FieldRef, Filter } from '../model/filter.ts';
import { budgetOf, parseRegex } from '../regex/index.ts';
import { equals, exists, inequality, noneOf, oneOf, refuseRelativeTime } from './comparison.ts';
import { allOf, always, descend, type FieldOperator, negate, never, spend, type WhereContext } from './context.ts';
import { containedBy, hasAll } from './members.ts';
import { inQuery, select } from './sub-queries.ts';
import { parseText } from './text.ts';

const not =
  (operator: FieldOperator): FieldOperator =>
  (ref, value, context, siblings) =>
    negate(operator(ref, value, context, siblings));

const regex: FieldOperator = (ref, value, context, siblings) => {
  const pattern = parseRegex(value, own(siblings, '$options'), budgetOf(context.spent.patterns));
  const readable = ref && (ref.path.length > 0 || ['String', 'HTML/XML', 'Array'].includes(ref.field.type));
  return readable ? { kind: 'regex', ref, regex: pattern } : never;
};

const options: FieldOperator = (_ref, _value, _context, siblings) => {
  if (!Object.hasOwn(siblings, '$regex')) fail('badQuery', '$options needs a $regex');
  return always;
};

/** `$not` around the operators of a field: true if the operators are not. */
const inverse: FieldOperator = (ref, value, context) => {
  if (!isJsonObject(value) || !isConstraint(value)) fail('badConstraint', 'bad $not: should be an object of operators');
  return negate(parseConstraint(ref, value, descend(context)));
};

const relativeTime: FieldOperator = (_ref, value) => {
  refuseRelativeTime({ $relativeTime: value });
  return never;
};

/** The operators on a field, by name. Reference: queries.md#where. */
const operators: ReadonlyMap<string, FieldOperator> = new Map<string, FieldOperator>([
  ['$eq', equals],
  ['$ne', not(equals)],
  ['$lt', inequality('lt')],
  ['$lte', inequality('lte')],
  ['$gt', inequality('gt')],
  ['$gte', inequality('gte')],
  ['$in', oneOf],
  ['containedIn', oneOf],
  ['$nin', noneOf],
  ['notContainedIn', noneOf],
  ['$exists', exists],
  ['$all', hasAll],
  ['$containedBy', containedBy],
  ['$regex', regex],
  ['$options', options],
  ['$text', (_ref, value, context) => parseTextOnce(value, context)],
  ['$not', inverse],
  ['$inQuery', inQuery('$inQuery')],
  ['$notInQuery', not(inQuery('$notInQuery'))],
  ['$select', select('$select')],
  ['$dontSelect', not(select('$dontSelect'))],
  ['$relativeTime', relativeTime],
]);

/**
 * Parses the constraint of one field: a value, or operators that all have to hold. Keys beside operators are collected into an equality.
 * @throws badQuery for an unknown operator, and what the operators throw
 */
export function parseConstraint(ref: FieldRef | null, value: JsonValue, context: WhereContext): Filter {
  if (!isJsonObject(value) || !isConstraint(value)) {
    spend(context, 1);
    return equals(ref, value, context, {});
  }
  const items: Filter[] = [];
  const direct: [string, JsonValue][] = [];
  for (const [name, operand] of Object.entries(value)) {
    if (!isOperator(name)) {
      direct.push([name, operand]);
      continue;
    }
    const operator = operators.get(name);
    if (!operator) fail('badQuery', `bad constraint: ${name.slice(0, 50)}`);
    spend(context, 1);
    items.push(operator(ref, operand, context, value));
  }
  if (direct.length > 0) items.push(equals(ref, Object.fromEntries(direct), context, value));
  return allOf(items);
}

/** Parses `$text`. A query may have one, since there is one relevance to sort by. @throws badQuery, noTextIndex, badConstraint, fieldDenied */
export function parseTextOnce(value: JsonValue, context: WhereContext): Filter {
  context.spent.texts += 1;
  if (context.spent.texts > 1) fail('badQuery', 'a where may hold one $text');
  return parseText(value, context.grant);
}

const isOperator = (name: string) => name.startsWith('$') || operators.has(name);
const isConstraint = (value: JsonObject) => Object.keys(value).some(isOperator);
