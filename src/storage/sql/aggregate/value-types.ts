import { sameKind, type ValueKind } from '../../../query/aggregate/model.ts';
import type { Dialect } from '../dialect.ts';
import type { AggregateDialect } from './dialect.ts';
import { bound, type Fragment, sql, type Typed } from './fragment.ts';

/** What compiling an expression needs. */
export interface ExpressionContext {
  readonly base: Dialect;
  readonly dialect: AggregateDialect;
  /** Returns a name for an operand, unique in the statement. */
  newName(): string;
}

/** Lets a body use its operands more than once while they are computed once. */
export function using(
  context: ExpressionContext,
  operands: readonly Typed[],
  body: (...operands: Fragment[]) => Fragment,
): Fragment {
  const named: (readonly [string, Fragment])[] = [];
  const uses = operands.map((operand): Fragment => {
    if (operand.simple) return operand.sql;
    const name = context.newName();
    named.push([name, operand.sql]);
    return [name];
  });
  return named.length === 0 ? sql`(${body(...uses)})` : context.dialect.bind(named, body(...uses));
}

/** Returns the value as another kind; NULL if it is not of that kind. A value of unknown kind is checked row by row. */
export function as(context: ExpressionContext, wanted: ValueKind, value: Typed): Fragment {
  if (sameKind(value, wanted)) return value.sql;
  if (wanted.kind === 'json') return asJson(context, value);
  const { dialect } = context;
  if (value.kind !== 'json') return dialect.typed(wanted.kind, ['NULL']);
  return using(context, [value], (json): Fragment => {
    switch (wanted.kind) {
      case 'number':
        return dialect.numberOf(json);
      case 'text':
        return dialect.textOf(json);
      case 'boolean':
        return sql`CASE ${json} WHEN 'true' THEN true WHEN 'false' THEN false END`;
      case 'date':
        return sql`CASE WHEN ${dialect.member(json, '__type')} = 'Date' THEN ${dialect.instantOf(dialect.member(json, 'iso'))} END`;
      default:
        return sql`CASE WHEN ${dialect.member(json, '__type')} = 'Pointer' AND ${dialect.member(json, 'className')} = ${dialect.typed('text', bound(wanted.targetClass ?? ''))} THEN ${dialect.member(json, 'objectId')} END`;
    }
  });
}

/** Returns the JSON text of a value's wire form. Reference: types.md#wire-types. */
function asJson(context: ExpressionContext, value: Typed): Fragment {
  const { dialect } = context;
  switch (value.kind) {
    case 'text':
      return dialect.jsonOfText(value.sql);
    case 'number':
      return using(context, [value], (number) => dialect.jsonOfNumber(number));
    case 'boolean':
      return sql`CASE ${value.sql} WHEN true THEN 'true' WHEN false THEN 'false' END`;
    case 'date':
      return using(context, [value], (instant) => dialect.jsonOfInstant(instant));
    case 'pointer':
      return sql`('{"__type":"Pointer","className":' || ${dialect.jsonOfText(dialect.typed('text', bound(value.targetClass ?? '')))} || ',"objectId":' || ${dialect.jsonOfText(value.sql)} || '}')`;
    default:
      return value.sql;
  }
}

/** The value as a number; NULL if it is not one. */
export const asNumber = (context: ExpressionContext, value: Typed): Fragment => as(context, { kind: 'number' }, value);
/** The value as a text; NULL if it is not one. */
export const asText = (context: ExpressionContext, value: Typed): Fragment => as(context, { kind: 'text' }, value);

/** Returns the key that a value is sorted and ranked by. */
export function sortKey(context: ExpressionContext, value: Typed): Fragment {
  return using(context, [value], (sql) => context.dialect.sortKey(value.kind, sql));
}

/** Returns a key that is the same for equal values. */
export function equalityKey(context: ExpressionContext, value: Typed): Fragment {
  return value.kind === 'json' ? context.dialect.equalityKey(value.sql) : value.sql;
}
