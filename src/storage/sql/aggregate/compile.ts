import type { Aggregation, Column, Stage } from '../../../query/aggregate/model.ts';
import type { ColumnShape } from '../../../values/rows/encode.ts';
import type { Dialect } from '../dialect.ts';
import type { RowContext } from '../row-layout.ts';
import { isRequired, SqlWriter, type Statement } from '../sql-writer.ts';
import { conditionNeedsGuardFirst, isGuarded } from '../timing-safe-filter.ts';
import { writeBase } from './base-scan.ts';
import { type Order, orderAfter, usedColumns, weightOf } from './columns.ts';
import { compileCondition } from './condition.ts';
import type { AggregateDialect } from './dialect.ts';
import { compileExpression } from './expression.ts';
import { privateFiles } from './files.ts';
import { bound, columnName, type Fragment, joined, sql, typedColumn, writeFragment } from './fragment.ts';
import { compileGroup } from './group.ts';
import { type ExpressionContext, sortKey } from './value-types.ts';

/** A statement whose rows have the columns of a row writer. */
export interface AggregateStatement extends Statement {
  readonly columns: readonly ColumnShape[];
}

/** Expressions heavier than this are materialised, since engines may otherwise inline them at each use of their column. */
const MAX_INLINE_WEIGHT = 1_000;

/** Compiles an aggregation into one statement: a chain `WITH s0, s1, ...` in which each stage reads the previous one. Columns are named by number. */
export function compileAggregation(
  aggregation: Aggregation,
  dialect: Dialect,
  aggregate: AggregateDialect,
  rows: RowContext,
): AggregateStatement {
  const out = new SqlWriter(dialect, true);
  new Compiler(aggregation, dialect, aggregate, rows).write(out);
  const files = privateFiles(aggregation, rows);
  const columns = aggregation.output.map(([name, column]) => {
    const file = files.get(column);
    return file ? { name, storage: 'file' as const, file } : shapeOf(name, column);
  });
  return { ...out.statement(), columns };
}

/**
 * `createdAt` and `updatedAt` are bare ISO texts under these names, and the objectId, also as a group key, is always present. Reference:
 * aggregation.md#results.
 */
function shapeOf(name: string, { kind, targetClass, keepNull }: Column): ColumnShape {
  const bare = kind === 'date' && (name === 'createdAt' || name === 'updatedAt');
  return {
    name,
    storage: bare ? 'instant' : kind,
    ...(targetClass === undefined ? {} : { targetClass }),
    ...(keepNull || name === 'objectId' ? { keepNull: true } : {}),
  };
}

class Compiler {
  readonly #aggregation: Aggregation;
  readonly #context: ExpressionContext;
  readonly #rows: RowContext;
  readonly #used: ReadonlySet<Column>;
  /** Columns that no row lacks. */
  readonly #required: ReadonlySet<Column>;
  readonly #weights = new Map<Column, number>();
  readonly #sources: Fragment[] = [];
  #columns: readonly Column[];
  #order: Order;
  #names = 0;

  constructor(aggregation: Aggregation, base: Dialect, dialect: AggregateDialect, rows: RowContext) {
    this.#aggregation = aggregation;
    this.#rows = rows;
    this.#used = usedColumns(aggregation);
    this.#required = new Set(aggregation.base.filter(([, field]) => isRequired(field)).map(([column]) => column));
    this.#context = { base, dialect, newName: () => `a${this.#names++}` };
    this.#columns = [aggregation.sequence, ...aggregation.base.map(([column]) => column)].filter((column) =>
      this.#used.has(column),
    );
    this.#order = [{ column: aggregation.sequence, descending: false }];
  }

  write(out: SqlWriter): void {
    const { stages, output } = this.#aggregation;
    const slow = stages.some((stage) => stage.kind === 'match' && conditionNeedsGuardFirst(stage.condition));
    this.#source(
      (writer) => writeBase(writer, this.#aggregation, this.#used, this.#context.dialect, this.#rows),
      slow && isGuarded(this.#aggregation.filter),
    );
    for (let at = 0; at < stages.length; at++) {
      const stage = stages[at] as Stage;
      const next = stages[at + 1];
      const limit = stage.kind === 'skip' && next?.kind === 'limit' ? next.count : null;
      this.#stage(stage, limit);
      if (limit !== null) at++;
      this.#order = orderAfter(stage, this.#order);
    }
    const shown = output.map(([, column]) =>
      column.kind === 'number' && column.keepNull ? this.#finite(column) : sql`${columnName(column)}`,
    );
    const rows = sql`SELECT ${shown.length > 0 ? joined(shown, ', ') : 'NULL'} FROM ${this.#from()}${this.#orderBy()}`;
    writeFragment(out, sql`WITH ${joined(this.#sources, ', ')} ${rows}`);
  }

  #stage(stage: Stage, limit: number | null): void {
    switch (stage.kind) {
      case 'match':
        this.#source(sql`SELECT ${this.#kept()} FROM ${this.#from()} WHERE ${compileCondition(stage.condition, this.#context)}`);
        break;
      case 'compute':
        this.#compute(stage);
        break;
      case 'group':
        this.#group(stage);
        break;
      case 'skip': {
        const max = limit === null ? this.#context.dialect.noLimit : bound(limit);
        this.#source(
          sql`SELECT ${this.#kept()} FROM ${this.#from()}${this.#orderBy()} LIMIT ${max} OFFSET ${bound(stage.count)}`,
        );
        break;
      }
      case 'limit':
        this.#source(sql`SELECT ${this.#kept()} FROM ${this.#from()}${this.#orderBy()} LIMIT ${bound(stage.count)}`);
        break;
      case 'unwind':
        this.#unwind(stage);
    }
  }

  #compute(stage: Extract<Stage, { kind: 'compute' }>): void {
    const made = stage.columns.filter(([column]) => this.#used.has(column));
    if (made.length === 0) return;
    let heaviest = 0;
    for (const [column, expression] of made) {
      const weight = weightOf(expression, this.#weights);
      this.#weights.set(column, weight);
      heaviest = Math.max(heaviest, weight);
    }
    const columns = made.map(([column, expression]) => this.#shown(compileExpression(expression, this.#context).sql, column));
    const kept = this.#columns.map((column) => sql`${columnName(column)}`);
    this.#source(
      sql`SELECT ${joined([...kept, ...columns], ', ')} FROM ${this.#from()}${this.#context.dialect.fence}`,
      heaviest > MAX_INLINE_WEIGHT,
    );
    this.#columns = [...this.#columns, ...made.map(([column]) => column)];
    if (heaviest > MAX_INLINE_WEIGHT) this.#weights.clear();
  }

  #group(stage: Extract<Stage, { kind: 'group' }>): void {
    const order = (reversed: boolean) => this.#orderTerms(reversed);
    const group = compileGroup(stage, order, this.#context);
    if (group.added.length > 0) {
      const kept = this.#columns.map((column) => sql`${columnName(column)}`);
      this.#source(sql`SELECT ${joined([...kept, ...group.added], ', ')} FROM ${this.#from()}${this.#context.dialect.fence}`);
    }
    const columns = group.columns.length > 0 ? joined(group.columns, ', ') : 'count(*) AS "none"';
    this.#source(sql`SELECT ${columns} FROM ${this.#from()}${group.tail}`);
    this.#columns = [...stage.keys.map(([key]) => key), ...stage.accumulators.map(({ column }) => column)];
    this.#weights.clear();
  }

  #unwind(stage: Extract<Stage, { kind: 'unwind' }>): void {
    const { dialect } = this.#context;
    const rows = dialect.unwind(this.#from(), [columnName(stage.source)], stage.preserve);
    const made = [
      [stage.element, rows.element],
      [stage.position, rows.position],
    ] as const;
    const columns = made.filter(([column]) => this.#used.has(column));
    const kept = this.#columns.map((column) => sql`${columnName(column)}`);
    const all = [...kept, ...columns.map(([column, value]) => this.#shown(value, column))];
    this.#source(
      sql`SELECT ${all.length > 0 ? joined(all, ', ') : 'NULL AS "none"'} FROM ${rows.from} WHERE ${dialect.unwindInterruptCheck}`,
    );
    this.#columns = [...this.#columns, ...columns.map(([column]) => column)];
    for (const [column] of columns) this.#weights.set(column, 8);
  }

  #shown(value: Fragment, column: Column): Fragment {
    return sql`${this.#context.dialect.typed(column.kind, value)} AS ${columnName(column)}`;
  }

  /** Adds a row source, which the next one reads. */
  #source(rows: Fragment | ((out: SqlWriter) => void), materialized = false): void {
    const name = `s${this.#sources.length}`;
    const body: Fragment = typeof rows === 'function' ? [rows] : rows;
    this.#sources.push(sql`${name} AS ${materialized ? 'MATERIALIZED ' : ''}(${body})`);
  }

  #from(): string {
    return `s${this.#sources.length - 1}`;
  }

  #kept(): Fragment {
    return this.#columns.length > 0
      ? joined(
          this.#columns.map((column) => sql`${columnName(column)}`),
          ', ',
        )
      : ['NULL AS "none"'];
  }

  #orderBy(): Fragment {
    return this.#order.some(({ column }) => this.#used.has(column)) ? sql` ORDER BY ${this.#orderTerms(false)}` : [];
  }

  #orderTerms(reversed: boolean): Fragment {
    const order = this.#order.filter(({ column }) => this.#used.has(column));
    const terms = order.map(({ column, descending }) => {
      const down = descending !== reversed;
      // To match an index of such columns.
      const nulls = this.#required.has(column) ? '' : this.#context.base.nulls(down);
      return sql`${sortKey(this.#context, typedColumn(column))}${down ? ' DESC' : ''}${nulls}`;
    });
    return terms.length > 0 ? joined(terms, ', ') : ['NULL'];
  }

  /** Infinity cannot be written as JSON. */
  #finite(column: Column): Fragment {
    return this.#context.dialect.finite([columnName(column)]);
  }
}
