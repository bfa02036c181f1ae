import { fail } from '../../errors/fail.ts';
import { alignedLiterals } from './literal.ts';
import { dateParts, type Expression, kindOf, type Operator, sameKind, type ValueKind } from './model.ts';

interface OperatorRule {
  readonly operator: Operator;
  /** Minimum and maximum number of operands. */
  readonly min: number;
  readonly max: number;
  readonly kind: (items: readonly Expression[]) => ValueKind;
}

/** Maximum number of operands of an operator, of elements of an array and of members of an object. */
export const MAX_ITEMS = 100;

const number: ValueKind = { kind: 'number' };
const isDate = (item: Expression | undefined) => item?.kind === 'date';

const rules = new Map<string, OperatorRule>();
const define = (names: readonly Operator[], min: number, max: number, kind: OperatorRule['kind']) => {
  for (const operator of names) rules.set(`$${operator}`, { operator, min, max, kind });
};
define(['add'], 1, MAX_ITEMS, (items) => (items.some(isDate) ? { kind: 'date' } : number));
define(['subtract'], 2, 2, ([from, amount]) => (isDate(from) && !isDate(amount) ? { kind: 'date' } : number));
define(['multiply'], 1, MAX_ITEMS, () => number);
define(['divide', 'mod'], 2, 2, () => number);
define(['abs', 'size'], 1, 1, () => number);
define(dateParts, 1, 1, () => number);
define(['round'], 1, 2, () => number);
define(['concat'], 1, MAX_ITEMS, () => ({ kind: 'text' }));
define(['toUpper', 'toLower'], 1, 1, () => ({ kind: 'text' }));
define(['ifNull'], 2, MAX_ITEMS, common);
define(['cond'], 3, 3, (items) => common(items.slice(1)));
define(['eq', 'ne', 'gt', 'gte', 'lt', 'lte'], 2, 2, () => ({ kind: 'boolean' }));
define(['and', 'or'], 0, MAX_ITEMS, () => ({ kind: 'boolean' }));
define(['not'], 1, 1, () => ({ kind: 'boolean' }));

/** Whether an expression operator of this name exists, `$` included. */
export const isOperator = (name: string): boolean => rules.has(name);

/** Returns the call of an operator. @throws badQuery (102) for a wrong number of operands */
export function callOf(name: string, items: readonly Expression[]): Expression {
  const rule = rules.get(name) as OperatorRule;
  if (items.length < rule.min || items.length > rule.max)
    fail('badQuery', `Expression ${name} takes ${rule.min === rule.max ? rule.min : `${rule.min} to ${rule.max}`} arguments.`);
  if (rule.operator === 'round') checkPlaces(items[1]);
  const compares = rule.min === 2 && rule.kind(items).kind === 'boolean';
  return { form: 'call', operator: rule.operator, items: compares ? alignedLiterals(items) : items, ...rule.kind(items) };
}

function checkPlaces(places: Expression | undefined): void {
  if (places === undefined) return;
  const value = places.form === 'literal' ? places.value : null;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < -20 || value > 20)
    fail('badQuery', '$round takes a whole number of places from -20 to 20.');
}

/** Returns the common kind of all values; json if they differ. Nulls have any kind. */
function common(items: readonly Expression[]): ValueKind {
  const [first, ...rest] = items.filter((item) => item.form !== 'literal' || item.value !== null);
  if (!first || !rest.every((item) => sameKind(item, first))) return { kind: 'json' };
  return kindOf(first);
}
