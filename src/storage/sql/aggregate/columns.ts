import type { Aggregation, Column, Condition, Expression, Stage } from '../../../query/aggregate/model.ts';

/** The sort keys of a pipeline's rows at some stage, the most significant first. */
export type Order = ReadonlyArray<{ readonly column: Column; readonly descending: boolean }>;

const ascending = (column: Column) => ({ column, descending: false });

/** Returns the order of the rows after a stage, given the one before: records by creation, groups by key, elements by position. */
export function orderAfter(stage: Stage, order: Order): Order {
  switch (stage.kind) {
    case 'sort':
      return [...stage.keys, ...order.filter(({ column }) => !stage.keys.some((key) => key.column === column))];
    case 'group':
      return stage.keys.map(([key]) => ascending(key));
    case 'unwind':
      return [...order, ascending(stage.position)];
    default:
      return order;
  }
}

/**
 * Returns the columns that any stage or the output reads; the others need not be carried from stage to stage. Sort keys that are not among these are
 * dropped from the order.
 */
export function usedColumns(aggregation: Aggregation): ReadonlySet<Column> {
  const used = new Set<Column>(aggregation.output.map(([, column]) => column));
  const orders: Order[] = [];
  let order: Order = [ascending(aggregation.sequence)];
  for (const stage of aggregation.stages) {
    orders.push(order);
    order = orderAfter(stage, order);
  }
  useOrder(order, used, aggregation);
  for (let at = aggregation.stages.length - 1; at >= 0; at--)
    useOf(aggregation.stages[at] as Stage, used, () => useOrder(orders[at] as Order, used, aggregation));
  return used;
}

/** Kinds of which two values with the same rank are identical. */
const wholeInOrder: ReadonlySet<Column['kind']> = new Set(['text', 'number', 'boolean', 'date']);

/**
 * Adds the sort keys. The creation order, which breaks ties, is added only if it is observable: if columns other than complete sort keys are read,
 * and no sort key is unique. Indexes of sort keys do not contain it, so adding it would prevent their use.
 */
function useOrder(order: Order, used: Set<Column>, { base, sequence }: Aggregation): void {
  const columns = order.map(({ column }) => column);
  const keys = new Set(columns.filter((column) => column !== sequence));
  for (const column of keys) used.add(column);
  const at = columns.indexOf(sequence);
  const hasId = base.some(([column, { name }]) => name === 'objectId' && columns.slice(0, Math.max(at, 0)).includes(column));
  const isSeen = !hasId && used.values().some((column) => !keys.has(column) || !wholeInOrder.has(column.kind));
  if (at >= 0 && isSeen) used.add(sequence);
}

/** Adds the columns that a stage reads, given the used columns of its output. */
function useOf(stage: Stage, used: Set<Column>, useOrder: () => void): void {
  switch (stage.kind) {
    case 'match':
      conditionColumns(stage.condition, used);
      break;
    case 'compute':
      for (const [column, expression] of stage.columns) if (used.has(column)) expressionColumns(expression, used);
      break;
    case 'group':
      for (const [, from] of stage.keys) used.add(from);
      for (const { argument, operator } of stage.accumulators) {
        if (argument) used.add(argument);
        if (operator === 'first' || operator === 'last' || operator === 'push') useOrder();
      }
      break;
    case 'skip':
    case 'limit':
      useOrder();
      break;
    case 'unwind':
      used.add(stage.source);
  }
}

function conditionColumns(condition: Condition, used: Set<Column>): void {
  switch (condition.kind) {
    case 'never':
      break;
    case 'and':
    case 'or':
      for (const item of condition.items) conditionColumns(item, used);
      break;
    case 'not':
      conditionColumns(condition.item, used);
      break;
    default:
      used.add(condition.column);
  }
}

function expressionColumns(expression: Expression, used: Set<Column>): void {
  if ('column' in expression) used.add(expression.column);
  if (expression.form === 'edited') used.add(expression.value);
  if ('items' in expression) for (const item of expression.items) expressionColumns(item, used);
  if (expression.form === 'object') for (const [, value] of expression.members) expressionColumns(value, used);
}

/** Returns how much SQL an expression amounts to after an engine inlines the columns that it refers to. */
export function weightOf(expression: Expression, weights: ReadonlyMap<Column, number>): number {
  // An operator may write its operand up to three times.
  const times = (columns: readonly Column[]) => columns.reduce((sum, column) => sum + 3 * (weights.get(column) ?? 1), 1);
  if (expression.form === 'edited') return times([expression.column, expression.value]);
  if ('column' in expression) return times([expression.column]);
  if (expression.form === 'literal') return 1;
  const items = expression.form === 'object' ? expression.members.map(([, value]) => value) : expression.items;
  return items.reduce((sum, item) => sum + weightOf(item, weights), 1);
}
