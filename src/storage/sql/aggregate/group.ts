import type { Accumulator, Column, Stage } from '../../../query/aggregate/model.ts';
import type { AggregateDialect } from './dialect.ts';
import { columnName, type Fragment, joined, sql, typedColumn } from './fragment.ts';
import { as, asNumber, type ExpressionContext, sortKey } from './value-types.ts';

type Group = Extract<Stage, { kind: 'group' }>;

/** Writes ORDER BY terms over columns; `reversed` inverts the order. */
export type WriteOrder = (reversed: boolean) => Fragment;

/** The parts of a grouping statement. */
export interface GroupSql {
  /** Columns to add to the rows before grouping: ranks within the groups, and values that accumulators use more than once. */
  readonly added: readonly Fragment[];
  /** The columns of the groups. */
  readonly columns: readonly Fragment[];
  /** SQL after FROM. */
  readonly tail: Fragment;
}

/** Returns the SQL of a `$group`. `$first` and `$last` follow the order of the input rows. */
export function compileGroup(stage: Group, order: WriteOrder, context: ExpressionContext): GroupSql {
  const added: Fragment[] = [];
  const add: Add = (value) => {
    const name = `"r${added.length}"`;
    added.push(sql`${value} AS ${name}`);
    return name;
  };
  const keys = stage.keys.map(([, from]) => groupKey(from, context));
  const by = keys.map((key) => key.by);
  const partition = keys.length === 0 ? sql`` : sql`PARTITION BY ${joined(by, ', ')} `;
  const rank: Rank = (terms) => add(sql`row_number() OVER (${partition}ORDER BY ${terms})`);
  const shown = (value: Fragment, column: Column) => sql`${context.dialect.typed(column.kind, value)} AS ${columnName(column)}`;
  const accumulated = stage.accumulators.map((accumulator) =>
    shown(accumulate(accumulator, order, { rank, add, context }), accumulator.column),
  );
  const columns = [...stage.keys.map(([key], at) => shown((keys[at] as GroupKey).shown, key)), ...accumulated];
  // Without keys, an empty input must give no group.
  const tail = keys.length === 0 ? [' HAVING count(*) > 0'] : sql` GROUP BY ${joined(keys.map(grouped), ', ')}`;
  return { added, columns, tail };
}

/** Adds a column to the rows before grouping. @returns its name */
type Add = (value: Fragment) => string;
type Rank = (terms: Fragment) => string;

type GroupKey = ReturnType<AggregateDialect['groupKey']>;

function groupKey(from: Column, { dialect }: ExpressionContext): GroupKey {
  const { kind, sql } = typedColumn(from);
  return kind === 'json' ? dialect.groupKey(sql) : { by: sql, shown: sql };
}

/** A key that is output as computed is referred to by its position. */
const grouped = ({ by, shown }: GroupKey, at: number): Fragment => (by === shown ? [String(at + 1)] : by);

function accumulate(
  { operator, argument }: Accumulator,
  order: WriteOrder,
  { rank, add, context }: { readonly rank: Rank; readonly add: Add; readonly context: ExpressionContext },
): Fragment {
  if (operator === 'count' || !argument) return ['count(*)'];
  const { dialect } = context;
  const value = typedColumn(argument);
  const only = (terms: Fragment) => dialect.only(sql`${rank(terms)} = 1`, value.sql);
  const total = (which: 'sum' | 'avg') => {
    const number = asNumber(context, value);
    return dialect.total(which, value.kind === 'number' ? number : [add(number)]);
  };
  switch (operator) {
    case 'sum':
      return sql`coalesce(${total('sum')}, 0)`;
    case 'avg':
      return total('avg');
    case 'min':
    case 'max':
      // Values of unknown kind have their own order.
      return value.kind === 'json'
        ? only(extremeFirst(argument, operator === 'max', context))
        : dialect.extreme(operator, value.kind, value.sql);
    case 'first':
      return only(order(false));
    case 'last':
      return only(order(true));
    case 'push':
      return dialect.collected(as(context, { kind: 'json' }, value), order(false));
    case 'addToSet':
      return dialect.collectedSet(as(context, { kind: 'json' }, value), value.kind === 'json');
  }
}

function extremeFirst(column: Column, descending: boolean, context: ExpressionContext): Fragment {
  const value = typedColumn(column);
  return sql`${value.sql} IS NULL, ${sortKey(context, value)}${descending ? ' DESC' : ''}`;
}
