import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { isWrapped, literalOf, nullLiteral } from './literal.ts';
import { dateParts, type Expression } from './model.ts';
import { outputName } from './names.ts';
import { callOf, isOperator, MAX_ITEMS } from './operators.ts';
import type { PipelineBuilder } from './pipeline.ts';

export const MAX_DEPTH = 50;
const dateOperators: ReadonlySet<string> = new Set(dateParts.map((part) => `$${part}`));

/**
 * Parses an expression over the current row: `$field`, a literal, an operator, or an object or array of expressions.
 * Reference: aggregation.md#expressions.
 * @throws badQuery (102) for unknown operators and wrong forms; fieldDenied (119); invalidFieldName (105)
 */
export function parseExpression(value: JsonValue, pipeline: PipelineBuilder, depth = 0): Expression {
  if (depth > MAX_DEPTH) fail('badQuery', `Expressions nest at most ${MAX_DEPTH} levels.`);
  pipeline.spend(1);
  if (typeof value === 'string' && value.startsWith('$')) return fieldOf(value, pipeline);
  if (Array.isArray(value)) {
    if (value.length > MAX_ITEMS) fail('badQuery', `An array of expressions has at most ${MAX_ITEMS} of them.`);
    return { form: 'array', kind: 'json', items: value.map((item) => parseExpression(item, pipeline, depth + 1)) };
  }
  if (!isJsonObject(value) || isWrapped(value)) return literalOf(value);
  const keys = Object.keys(value);
  const operator = keys.find((key) => key.startsWith('$'));
  if (operator === undefined) return objectOf(value, pipeline, depth);
  if (keys.length > 1) fail('badQuery', 'An expression has only one operator.');
  const operand = value[operator] as JsonValue;
  if (operator === '$literal') return literalOf(operand);
  if (!isOperator(operator)) fail('badQuery', `Unrecognized expression '${operator.slice(0, 50)}'.`);
  const items = operandsOf(operator, operand).map((item) => parseExpression(item, pipeline, depth + 1));
  return callOf(operator, items);
}

/** Parses `$name` or `$name.place`. @throws badQuery (102) for variables and empty names */
function fieldOf(reference: string, pipeline: PipelineBuilder): Expression {
  if (reference.startsWith('$$')) fail('badQuery', `Variables are not supported: ${reference.slice(0, 50)}`);
  if (reference.length === 1) fail('badQuery', "'$' by itself is not a field.");
  return pipeline.resolve(reference.slice(1)) ?? nullLiteral;
}

function objectOf(value: JsonObject, pipeline: PipelineBuilder, depth: number): Expression {
  const entries = Object.entries(value);
  if (entries.length > MAX_ITEMS) fail('badQuery', `An object of expressions has at most ${MAX_ITEMS} members.`);
  const members = entries.map(([name, item]) => {
    // Inside an object `_id` is an ordinary key and is not renamed to `objectId`.
    if (name !== '_id') outputName(name);
    return [name, parseExpression(item, pipeline, depth + 1)] as const;
  });
  return { form: 'object', kind: 'json', members, compact: false };
}

function operandsOf(operator: string, operand: JsonValue): JsonValue[] {
  if (Array.isArray(operand)) return operand;
  if (!isJsonObject(operand)) return [operand];
  if (operator === '$cond') return memberValues(operator, operand, ['if', 'then', 'else']);
  if (dateOperators.has(operator) && Object.hasOwn(operand, 'date')) {
    const zone = own(operand, 'timezone');
    if (zone !== undefined && zone !== 'UTC' && zone !== 'GMT')
      fail('badQuery', 'Date parts are in UTC; timezone is not supported.');
    return memberValues(operator, operand, ['date'], ['timezone']);
  }
  return [operand];
}

function memberValues(
  operator: string,
  operand: JsonObject,
  names: readonly string[],
  more: readonly string[] = [],
): JsonValue[] {
  const unknown = Object.keys(operand).find((key) => !names.includes(key) && !more.includes(key));
  if (unknown !== undefined) fail('badQuery', `Unrecognized parameter to ${operator}: ${unknown.slice(0, 50)}`);
  return names.map(
    (name) =>
      own(operand, name) ??
      (Object.hasOwn(operand, name) ? null : fail('badQuery', `Missing '${name}' parameter to ${operator}.`)),
  );
}
