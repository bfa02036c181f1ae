import { sameKind, type ValueKind } from '../../../query/aggregate/model.ts';
import type { Dialect } from '../dialect.ts';
import type { AggregateDialect } from './dialect.ts';
import { bound, type Fragment, sql, type Typed } from './fragment.ts';

/** What compiling an expression needs to know. */
export interface ExpressionContext {
  readonly base: Dialect;
  readonly dialect: AggregateDialect;
  /** A name for an operand, unlike all others of the statement. */
  newName(): string;
}

/** A body that may use its operands more than once; they are computed once. */
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

/** The value as one of another kind; NULL where it is none. A value of unknown kind is looked at row by row. */
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

/** JSON text of the wire form of a value (SPEC "Wire types"). */
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

/** A value as a number; NULL where it is none. */
export const asNumber = (context: ExpressionContext, value: Typed): Fragment => as(context, { kind: 'number' }, value);
/** A value as a text; NULL where it is none. */
export const asText = (context: ExpressionContext, value: Typed): Fragment => as(context, { kind: 'text' }, value);

/** What a value is sorted and ranked by. */
export function sortKey(context: ExpressionContext, value: Typed): Fragment {
  return using(context, [value], (sql) => context.dialect.sortKey(value.kind, sql));
}

/** What equal values have in common. */
export function equalityKey(context: ExpressionContext, value: Typed): Fragment {
  return value.kind === 'json' ? context.dialect.equalityKey(value.sql) : value.sql;
}
