import { type DatePart, kindOf, type Operator, sameKind, type ValueKind } from '../../../query/aggregate/model.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { balanced, bound, combined, type Fragment, joined, sql, type Typed } from './fragment.ts';
import { as, asNumber, asText, type ExpressionContext, equalityKey, sortKey, using } from './value-types.ts';

/** An operand; `value` is set for literals. */
export type Operand = Typed & { readonly value?: StoredValue };
type Write = (context: ExpressionContext, items: readonly Operand[], kind: ValueKind) => Fragment;

const date: ValueKind = { kind: 'date' };
const first = (items: readonly Operand[]) => items[0] as Operand;
const second = (items: readonly Operand[]) => items[1] as Operand;
const numbers = (context: ExpressionContext, items: readonly Operand[]) => items.map((item) => asNumber(context, item));

const part =
  (name: DatePart): Write =>
  (context, items) =>
    context.dialect.datePart(name, as(context, date, first(items)));

const order =
  (sign: '<' | '<=' | '>' | '>='): Write =>
  (context, items) =>
    writeOrder(context, sign, first(items), second(items));

const truth =
  (operator: ' AND ' | ' OR '): Write =>
  (_context, items) =>
    items.length === 0
      ? [operator === ' AND ' ? 'true' : 'false']
      : balanced(
          items.map((item) => truthOf(item)),
          operator,
        );

const letterCase =
  (name: 'upper' | 'lower'): Write =>
  (context, items) =>
    sql`${name}(coalesce(${asText(context, first(items))}, ''))`;

/** The SQL of each operator. NULL in arithmetic and texts gives NULL, as in MongoDB. */
export const operators: Readonly<Record<Operator, Write>> = {
  add: (context, items, kind) =>
    kind.kind === 'date' ? instant(context, items, '+') : calculated(context, numbers(context, items), '+'),
  subtract: (context, items, kind) => (kind.kind === 'date' ? instant(context, items, '-') : difference(context, items)),
  multiply: (context, items) => calculated(context, numbers(context, items), '*'),
  divide: (context, items) => context.dialect.arithmetic('/', asNumber(context, first(items)), asNumber(context, second(items))),
  mod: (context, items) => context.dialect.remainder(asNumber(context, first(items)), asNumber(context, second(items))),
  abs: (context, items) => sql`abs(${asNumber(context, first(items))})`,
  round: (context, items) => context.dialect.round(asNumber(context, first(items)), Number(items[1]?.value ?? 0)),
  concat: (context, items) =>
    balanced(
      items.map((item) => asText(context, item)),
      ' || ',
    ),
  toUpper: letterCase('upper'),
  toLower: letterCase('lower'),
  ifNull: (context, items, kind) =>
    sql`coalesce(${joined(
      items.map((item) => as(context, kind, item)),
      ', ',
    )})`,
  cond: (context, [test, then, otherwise], kind) =>
    sql`CASE WHEN ${truthOf(test as Operand)} THEN ${as(context, kind, then as Operand)} ELSE ${as(context, kind, otherwise as Operand)} END`,
  eq: (context, items) => equality(context, first(items), second(items)),
  ne: (context, items) => sql`(NOT ${equality(context, first(items), second(items))})`,
  gt: order('>'),
  gte: order('>='),
  lt: order('<'),
  lte: order('<='),
  and: truth(' AND '),
  or: truth(' OR '),
  not: (_context, items) => sql`(NOT ${truthOf(first(items))})`,
  size: (context, items) =>
    first(items).kind === 'json' ? using(context, items, context.dialect.length) : context.dialect.typed('number', ['NULL']),
  year: part('year'),
  month: part('month'),
  dayOfMonth: part('dayOfMonth'),
  hour: part('hour'),
  week: part('week'),
  dayOfWeek: part('dayOfWeek'),
  minute: part('minute'),
  second: part('second'),
};

function calculated(context: ExpressionContext, items: readonly Fragment[], operator: '+' | '-' | '*'): Fragment {
  return combined(items, (a, b) => context.dialect.arithmetic(operator, a, b));
}

/** A Date as its number of milliseconds. */
const milliseconds = (context: ExpressionContext, item: Operand) =>
  item.kind === 'date' ? context.dialect.typed('number', item.sql) : asNumber(context, item);

/** A Date shifted by milliseconds. */
function instant(context: ExpressionContext, items: readonly Operand[], operator: '+' | '-'): Fragment {
  const terms = items.map((item) => milliseconds(context, item));
  const moved = calculated(context, terms, operator);
  return using(context, [{ ...date, sql: moved, simple: false }], context.dialect.toInstant);
}

function difference(context: ExpressionContext, items: readonly Operand[]): Fragment {
  const dates = items.every((item) => item.kind === 'date');
  const terms = dates ? items.map((item) => milliseconds(context, item)) : numbers(context, items);
  return calculated(context, terms, '-');
}

/** Truth: anything except false, 0 and null. Never NULL. */
function truthOf(item: Operand): Fragment {
  if (item.kind === 'boolean') return sql`(${item.sql} IS TRUE)`;
  if (item.kind === 'number') return sql`((${item.sql} <> 0) IS TRUE)`;
  if (item.kind === 'json') return sql`((${item.sql} NOT IN ('false', '0', '0.0')) IS TRUE)`;
  return sql`(${item.sql} IS NOT NULL)`;
}

/** Converts operands to one kind; `null` if no value can be of both. A value of unknown kind is converted to the other kind. */
function alike(context: ExpressionContext, a: Operand, b: Operand): readonly [Typed, Typed] | null {
  if (sameKind(a, b)) return [a, b];
  if (a.kind === 'json') return [converted(context, a, b), b];
  return b.kind === 'json' ? [a, converted(context, b, a)] : null;
}

function converted(context: ExpressionContext, value: Operand, wanted: ValueKind): Typed {
  return { ...kindOf(wanted), sql: as(context, wanted, value), simple: false };
}

/** Null equals only null. Never NULL. */
function equality(context: ExpressionContext, a: Operand, b: Operand): Fragment {
  const pair = alike(context, a, b);
  if (!pair) return sql`(${a.sql} IS NULL AND ${b.sql} IS NULL)`;
  return sql`(${equalityKey(context, pair[0])} IS NOT DISTINCT FROM ${equalityKey(context, pair[1])})`;
}

/** Null comes first; values of different kinds have no order. Never NULL. */
function writeOrder(context: ExpressionContext, sign: '<' | '<=' | '>' | '>=', a: Operand, b: Operand): Fragment {
  const pair = alike(context, a, b);
  if (!pair) return ['false'];
  const keys = pair.map((item): Typed => (item.kind === 'json' ? { ...item, sql: sortKey(context, item), simple: false } : item));
  return using(context, keys, (x, y) => {
    const absent = {
      '<': sql`${y as Fragment} IS NOT NULL`,
      '>': sql`${x as Fragment} IS NOT NULL`,
      '<=': sql`${x as Fragment} IS NULL`,
      '>=': sql`${y as Fragment} IS NULL`,
    };
    return sql`coalesce(${x as Fragment} ${sign} ${y as Fragment}, ${absent[sign]})`;
  });
}

/** Returns a literal as an operand. */
export function literalOperand({ dialect, base }: ExpressionContext, kind: ValueKind, value: StoredValue): Operand {
  const literal: Fragment = value === null ? ['NULL'] : bound(base.toColumn(kind.kind, value));
  return { ...kind, sql: dialect.typed(kind.kind, literal), simple: true, value };
}
