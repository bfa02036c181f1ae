import type { Accumulator, Column, Stage } from '../../../query/aggregate/model.ts';
import { columnName, type Fragment, joined, sql, typedColumn } from './fragment.ts';
import { as, asNumber, type ExpressionContext, equalityKey, sortKey } from './kinds.ts';

type Group = Extract<Stage, { kind: 'group' }>;

/** ORDER BY terms over columns; `reversed` turns them round. */
export type WriteOrder = (reversed: boolean) => Fragment;

/** The parts of a grouping statement. */
export interface GroupSql {
  /** Columns to add to the rows before they are grouped: their ranks within the groups. */
  readonly ranks: readonly Fragment[];
  /** The columns of the groups. */
  readonly columns: readonly Fragment[];
  /** What follows FROM. */
  readonly tail: Fragment;
}

/** SQL of a `$group`: `$first` and `$last` go by the order of the rows that come in. */
export function compileGroup(stage: Group, order: WriteOrder, context: ExpressionContext): GroupSql {
  const ranks: Fragment[] = [];
  const keys = stage.keys.map(([, from]) => equalityKey(context, typedColumn(from)));
  const partition = keys.length === 0 ? sql`` : sql`PARTITION BY ${joined(keys, ', ')} `;
  const rank = (terms: Fragment): string => {
    const name = `"r${ranks.length}"`;
    ranks.push(sql`row_number() OVER (${partition}ORDER BY ${terms}) AS ${name}`);
    return name;
  };
  const accumulated = stage.accumulators.map(
    (accumulator) => sql`${accumulate(accumulator, order, rank, context)} AS ${columnName(accumulator.column)}`,
  );
  const columns = [...stage.keys.map(([key], at) => sql`${keys[at] as Fragment} AS ${columnName(key)}`), ...accumulated];
  // A group of all rows is no group where there are none.
  const tail = keys.length === 0 ? ' HAVING count(*) > 0' : ` GROUP BY ${keys.map((_, at) => String(at + 1)).join(', ')}`;
  return { ranks, columns, tail: [tail] };
}

function accumulate(
  { operator, argument }: Accumulator,
  order: WriteOrder,
  rank: (terms: Fragment) => string,
  context: ExpressionContext,
): Fragment {
  if (operator === 'count' || !argument) return ['count(*)'];
  const value = typedColumn(argument);
  const only = (terms: Fragment) => sql`max(CASE WHEN ${rank(terms)} = 1 THEN ${value.sql} END)`;
  switch (operator) {
    case 'sum':
      return sql`coalesce(sum(1.0 * ${asNumber(context, value)}), 0)`;
    case 'avg':
      return sql`avg(${asNumber(context, value)})`;
    case 'min':
    case 'max':
      // Values of unknown kind have an order of their own.
      return argument.kind === 'json'
        ? only(extremeFirst(argument, operator === 'max', context))
        : sql`${operator}(${value.sql})`;
    case 'first':
      return only(order(false));
    case 'last':
      return only(order(true));
    case 'push':
      return context.dialect.collected(as(context, { kind: 'json' }, value), order(false));
    case 'addToSet':
      return context.dialect.collected(
        value.kind === 'json' ? equalityKey(context, value) : as(context, { kind: 'json' }, value),
        null,
      );
  }
}

function extremeFirst(column: Column, descending: boolean, context: ExpressionContext): Fragment {
  const value = typedColumn(column);
  return sql`${value.sql} IS NULL, ${sortKey(context, value)}${descending ? ' DESC' : ''}`;
}
