import { type Condition, kindOf, type Literal } from '../../../query/aggregate/model.ts';
import { comparisonSigns } from '../dialect.ts';
import { balanced, bound, columnName, type Fragment, sql, typedColumn } from './fragment.ts';
import { as, type ExpressionContext } from './value-types.ts';

/** Returns the SQL of a condition over the columns of one row source; it may evaluate to NULL instead of false. */
export function compileCondition(condition: Condition, context: ExpressionContext): Fragment {
  switch (condition.kind) {
    case 'never':
      return ['false'];
    case 'and':
    case 'or': {
      const items = condition.items.map((item) => compileCondition(item, context));
      if (items.length === 0) return [condition.kind === 'and' ? 'true' : 'false'];
      return balanced(items, condition.kind === 'and' ? ' AND ' : ' OR ');
    }
    case 'not':
      return sql`((${compileCondition(condition.item, context)}) IS NOT TRUE)`;
    case 'exists':
      return sql`(${columnName(condition.column)} IS NOT NULL)`;
    case 'compare':
      return condition.column.kind === 'json' ? compareJson(condition, context) : compare(condition, context);
    case 'in': {
      const { column, values } = condition;
      return ['(', (out) => context.base.isMember(out, () => out.add(columnName(column)), values, column.kind), ')'];
    }
    case 'regex': {
      const { column, regex } = condition;
      const name = columnName(column);
      const text = column.kind === 'text' ? name : context.dialect.textIn(name);
      return ['(', (out) => context.base.textMatches(out, text, regex), ')'];
    }
  }
}

type Compare = Extract<Condition, { kind: 'compare' }>;

function compare({ column, op, operand }: Compare, context: ExpressionContext): Fragment {
  return sql`(${columnName(column)}${comparisonSigns[op]}${stored(operand, context)})`;
}

function stored({ kind, value }: Literal, { base, dialect }: ExpressionContext): Fragment {
  return dialect.typed(kind, bound(base.toColumn(kind, value)));
}

/** A value of unknown kind matches only as the operand's kind; an array matches if an element equals the operand. */
function compareJson({ column, op, operand }: Compare, context: ExpressionContext): Fragment {
  const { dialect } = context;
  const value = typedColumn(column);
  const literal = kindOf(operand);
  const wanted = stored(operand, context);
  if (op !== 'eq') return sql`(${as(context, literal, value)}${comparisonSigns[op]}${wanted})`;
  const equals = (json: Fragment) =>
    operand.kind === 'json'
      ? sql`${dialect.equalityKey(json)} = ${dialect.equalityKeyOf(wanted)}`
      : sql`${as(context, literal, { kind: 'json', sql: json, simple: false })} = ${wanted}`;
  return sql`((${equals(value.sql)}) OR ${dialect.someElement(value.sql, equals)})`;
}
