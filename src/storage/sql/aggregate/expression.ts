import { type Expression, kindOf } from '../../../query/aggregate/model.ts';
import { balanced, bound, columnName, type Fragment, joined, sql } from './fragment.ts';
import { literalOperand, type Operand, operators } from './operators.ts';
import { as, type ExpressionContext } from './value-types.ts';

const json = { kind: 'json' } as const;

/** Returns the SQL of an expression over the columns of one row source. */
export function compileExpression(expression: Expression, context: ExpressionContext): Operand {
  const kind = kindOf(expression);
  const operand = (sql: Fragment): Operand => ({ ...kind, sql, simple: false });
  const inner = (item: Expression) => compileExpression(item, context);
  const { dialect } = context;
  switch (expression.form) {
    case 'column':
      return { ...kind, sql: [columnName(expression.column)], simple: true };
    case 'literal':
      return literalOperand(context, kind, expression.value);
    case 'place':
      return operand(dialect.place([columnName(expression.column)], expression.path));
    case 'edited': {
      const value = as(context, json, inner({ form: 'column', column: expression.value, ...kindOf(expression.value) }));
      return operand(dialect.edited([columnName(expression.column)], expression.path, value));
    }
    case 'without':
      return operand(dialect.without([columnName(expression.column)], expression.paths));
    case 'object': {
      const members = expression.members.map(([name, value]) => [name, as(context, json, inner(value))] as const);
      return operand(expression.compact ? compactObject(context, members) : object(context, members));
    }
    case 'array':
      return operand(array(expression.items.map((item) => as(context, json, inner(item)))));
    case 'call':
      return operand(operators[expression.operator](context, expression.items.map(inner), kind));
  }
}

type Member = readonly [name: string, json: Fragment];

/** Databases limit the number of a function's arguments. */
const MAX_ARGUMENTS = 50;

/** Returns the JSON text of an object of JSON texts; NULL becomes null. */
export function object(context: ExpressionContext, members: readonly Member[]): Fragment {
  if (members.length === 0) return ["'{}'"];
  const parts = members.map(([name, json], at) => sql`${key(context, name, at > 0)} || coalesce(${json}, 'null')`);
  return sql`('{' || ${balanced(parts, ' || ')} || '}')`;
}

/** The same without members that are NULL; NULL if none remain. */
export function compactObject(context: ExpressionContext, members: readonly Member[]): Fragment {
  const parts = members.map(([name, json]) => sql`${key(context, name, false)} || ${json}`);
  return sql`nullif('{' || ${listed(parts)} || '}', '{}')`;
}

/** Returns the JSON text of an array of JSON texts; NULL becomes null. */
export function array(items: readonly Fragment[]): Fragment {
  if (items.length === 0) return ["'[]'"];
  const parts = items.map((item, at) => sql`${at > 0 ? "',' || " : ''}coalesce(${item}, 'null')`);
  return sql`('[' || ${balanced(parts, ' || ')} || ']')`;
}

function key({ dialect }: ExpressionContext, name: string, follows: boolean): Fragment {
  return dialect.typed('text', bound(`${follows ? ',' : ''}${JSON.stringify(name)}:`));
}

/** Returns the parts that are not NULL, separated by commas; an empty text if there are none. */
function listed(parts: readonly Fragment[]): Fragment {
  if (parts.length <= MAX_ARGUMENTS) return sql`concat_ws(',', ${joined(parts, ', ')})`;
  const size = MAX_ARGUMENTS ** Math.ceil(Math.log(parts.length) / Math.log(MAX_ARGUMENTS) - 1);
  const groups = Array.from({ length: Math.ceil(parts.length / size) }, (_, at) => parts.slice(at * size, (at + 1) * size));
  return listed(groups.map((group) => sql`nullif(${listed(group)}, '')`));
}
