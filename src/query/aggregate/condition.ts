import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { StoredValue } from '../../values/types/type.ts';
import type { Comparison, Inequality } from '../model/filter.ts';
import { budgetOf, parseRegex } from '../regex/index.ts';
import { literalFor, literalOf } from './literal.ts';
import { type Column, type Condition, sameKind } from './model.ts';
import type { PipelineBuilder } from './pipeline.ts';

const never: Condition = { kind: 'never' };
const not = (item: Condition): Condition => ({ kind: 'not', item });
const present = (column: Column | null): Condition => (column ? { kind: 'exists', column } : never);
const inequalities: ReadonlyMap<string, Inequality> = new Map([
  ['$lt', 'lt'],
  ['$lte', 'lte'],
  ['$gt', 'gt'],
  ['$gte', 'gte'],
]);

/**
 * Parses a `$match` over columns that earlier stages made: comparisons, `$in $nin $exists $regex $not $and $or $nor`, with the meaning of
 * `where`. Reference: aggregation.md#match.
 * @throws badQuery (102) for other operators, wrong forms and names through Pointers; badConstraint (107); fieldDenied (119); invalidFieldName (105)
 */
export function parseCondition(match: JsonObject, pipeline: PipelineBuilder, depth = 0): Condition {
  if (depth > limits.whereDepth) fail('badQuery', `$match nests at most ${limits.whereDepth} levels.`);
  const items = Object.entries(match).map(([name, value]): Condition => {
    pipeline.spend(1);
    if (name === '$and' || name === '$or' || name === '$nor') return logical(name, value, pipeline, depth);
    if (name.startsWith('$')) fail('badQuery', `bad constraint: ${name.slice(0, 50)}`);
    const place = pipeline.resolve(name) ?? pipeline.refusePointer(name);
    const [column = null] = place ? pipeline.columnsOf([place]) : [];
    return constraint(column, value, pipeline, depth);
  });
  return { kind: 'and', items };
}

function logical(name: '$and' | '$or' | '$nor', value: JsonValue, pipeline: PipelineBuilder, depth: number): Condition {
  if (!Array.isArray(value) || !value.every(isJsonObject) || value.length === 0)
    fail('badQuery', `Bad ${name} format - use an array value.`);
  const items = value.map((branch) => parseCondition(branch, pipeline, depth + 1));
  if (name === '$nor') return not({ kind: 'or', items });
  return { kind: name === '$and' ? 'and' : 'or', items };
}

function constraint(column: Column | null, value: JsonValue, pipeline: PipelineBuilder, depth: number): Condition {
  if (!isJsonObject(value) || !Object.keys(value).some((key) => key.startsWith('$'))) return equals(column, value);
  const operators = Object.entries(value).filter(([operator]) => operator !== '$options');
  if (operators.length === 0) fail('badQuery', '$options needs $regex.');
  return { kind: 'and', items: operators.map(([operator, operand]) => apply(operator, operand, column, value, pipeline, depth)) };
}

function apply(
  operator: string,
  operand: JsonValue,
  column: Column | null,
  siblings: JsonObject,
  pipeline: PipelineBuilder,
  depth: number,
): Condition {
  pipeline.spend(1);
  const op = inequalities.get(operator);
  if (op) return compare(column, op, operand);
  switch (operator) {
    case '$eq':
      return equals(column, operand);
    case '$ne':
      return not(equals(column, operand));
    case '$in':
      return oneOf(column, operator, operand, pipeline);
    case '$nin':
      return not(oneOf(column, operator, operand, pipeline));
    case '$exists':
      if (typeof operand !== 'boolean') fail('badConstraint', 'bad $exists value');
      return operand ? present(column) : not(present(column));
    case '$not':
      if (!isJsonObject(operand) || depth >= limits.whereDepth) fail('badQuery', 'Bad $not format - use an object value.');
      return not(constraint(column, operand, pipeline, depth + 1));
    case '$regex': {
      const regex = parseRegex(operand, own(siblings, '$options'), budgetOf(pipeline.spent.patterns));
      return column && (column.kind === 'text' || column.kind === 'json') ? { kind: 'regex', column, regex } : never;
    }
    default:
      return fail('badQuery', `bad constraint: ${operator.slice(0, 50)}`);
  }
}

function equals(column: Column | null, value: JsonValue): Condition {
  return value === null ? not(present(column)) : compare(column, 'eq', value);
}

/** Values of another kind than the column's match nothing, as in `where`; a json column is compared row by row. */
function compare(column: Column | null, op: Comparison, value: JsonValue): Condition {
  const operand = column && literalFor(literalOf(value), column);
  if (!column || !operand || operand.value === null) return never;
  if (column.kind === 'json' ? op !== 'eq' && operand.kind === 'json' : !sameKind(operand, column)) return never;
  return { kind: 'compare', column, op, operand };
}

function oneOf(column: Column | null, operator: string, values: JsonValue, pipeline: PipelineBuilder): Condition {
  if (!Array.isArray(values)) fail('badConstraint', `bad ${operator} value`);
  const absent = values.includes(null) ? not(present(column)) : never;
  if (!column) return absent;
  const given = values.filter((value) => value !== null);
  if (column.kind === 'json') {
    pipeline.spend(given.length);
    return { kind: 'or', items: [absent, ...given.map((value) => compare(column, 'eq', value))] };
  }
  const operands = given.map((value) => literalFor(literalOf(value), column)).filter((operand) => sameKind(operand, column));
  return { kind: 'or', items: [absent, { kind: 'in', column, values: operands.map((operand): StoredValue => operand.value) }] };
}
