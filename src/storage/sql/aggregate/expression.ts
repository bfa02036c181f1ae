import { kindOf } from '../../../query/aggregate/kind.ts';
import type { Expression } from '../../../query/aggregate/model.ts';
import { columnName, type Fragment } from './fragment.ts';
import { array, compactObject, object } from './json.ts';
import { literalOperand, type Operand, operators } from './operators.ts';
import { as, type ExpressionContext } from './value-types.ts';

const json = { kind: 'json' } as const;

/** SQL of an expression over the columns of one row source. */
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
