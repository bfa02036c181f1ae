import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { Field } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import { resolveName } from '../model/names.ts';
import type { QueryScope } from '../where/context.ts';
import type { Spending } from '../where/index.ts';
import { type Column, type Expression, kindOf, type Stage, type ValueKind } from './model.ts';
import { aliasOf } from './names.ts';

/** Maximum number of parts of expressions and conditions in one pipeline, all stages together; engines bound the size of a statement. */
export const MAX_PARTS = 1_000;
/** Maximum number of values of records that one value may be put together from: stages that double a text or an array would soon fill the memory. */
export const MAX_COPIES = 1_000;
/** Maximum number of members of a result object; SQLite has at most 2,000 columns in a result. */
export const MAX_COLUMNS = 1_900;

/** A pipeline under construction: the current columns of the rows, by name, and the stages that made them. */
export class PipelineBuilder {
  readonly grant: Grant;
  readonly scope: QueryScope;
  /** Budget spent so far by the `where` before the stages and by the stages. */
  readonly spent: Spending;
  readonly stages: Stage[] = [];
  readonly base: (readonly [Column, Field])[] = [];
  readonly sequence: Column;
  /** Whether the rows are still all records, unchanged, so that a `$match` can be part of the scan. */
  atRecords = true;
  row = new Map<string, Column>();
  readonly #places = new Map<string, Column>();
  /** Number of record values that a computed column may hold; columns of the records hold one. */
  readonly #copies = new Map<Column, number>();
  #pending: (readonly [Column, Expression])[] = [];
  #columns = 0;
  #parts = 0;
  /** Number of columns that the rows are sorted by so far. */
  #sortKeys = 1;

  constructor(grant: Grant, scope: QueryScope, spent: Spending) {
    this.grant = grant;
    this.scope = scope;
    this.spent = spent;
    this.sequence = this.column({ kind: 'number' });
    for (const field of grant.table.fields.values()) {
      if (grant.hiddenFields.has(field.name)) continue;
      const storage = storageOf(field);
      const column = this.column(
        field.targetClass === undefined || storage !== 'pointer'
          ? { kind: storage === 'relation' ? 'json' : storage }
          : { kind: 'pointer', targetClass: field.targetClass },
      );
      this.base.push([column, field]);
      this.row.set(field.name, column);
    }
  }

  /** Creates a column. @param from the column whose values it takes over or collects */
  column({ kind, targetClass }: ValueKind, keepNull = false, from?: Column): Column {
    const id = this.#columns++;
    const column = targetClass === undefined ? { id, kind, keepNull } : { id, kind, targetClass, keepNull };
    if (from) this.#copies.set(column, this.#copies.get(from) ?? 1);
    return column;
  }

  add(stage: Stage): void {
    this.#computePending();
    if (stage.kind !== 'sort') this.atRecords = false;
    this.#spendOrder(stage);
    this.stages.push(stage);
  }

  /** Replaces the columns of the rows. @throws badQuery (102) for too many columns */
  setRow(row: Map<string, Column>): void {
    this.#computePending();
    if (row.size > MAX_COLUMNS) fail('badQuery', `An aggregation makes at most ${MAX_COLUMNS} fields.`);
    this.row = row;
    this.atRecords = false;
  }

  /** Returns columns that hold the values of expressions over the row; new ones are computed before the next stage. */
  columnsOf(expressions: readonly Expression[]): Column[] {
    return expressions.map((expression) => {
      if (expression.form === 'column') return expression.column;
      if (expression.form === 'place') return this.#placeColumn(expression);
      // The expression may refer to a column that is still to be computed.
      if (expression.form === 'edited') this.#computePending();
      return this.#compute(expression);
    });
  }

  /**
   * Resolves a name, or a dotted place, in the current row; `null` if no row has it. Each key below the field counts as a part.
   * @throws badQuery (102) for too many parts; fieldDenied (119) for a hidden field; invalidFieldName (105) for an ill-formed name
   */
  resolve(name: string): Expression | null {
    const [, ...path] = name.split('.');
    this.spend(path.length);
    const column = this.row.get(this.keyOf(name));
    if (!column) {
      resolveName(aliasOf(name), this.grant);
      return null;
    }
    if (path.length === 0) return { form: 'column', column, ...kindOf(column) };
    // The name of the field is valid; this checks the keys below it.
    resolveName(`objectId.${path.join('.')}`, this.grant);
    return column.kind === 'json' ? { form: 'place', column, path, kind: 'json' } : null;
  }

  /** Refuses a name that leads through a Pointer: the rows of a later stage have no records behind them. @throws badQuery (102) */
  refusePointer(name: string): null {
    if (name.includes('.') && this.row.get(this.keyOf(name))?.kind === 'pointer')
      fail('badQuery', `${name.slice(0, 100)}: only a $match before all other stages leads through a Pointer.`);
    return null;
  }

  /** Returns the field of the row that a name, or a dotted place, begins with; it may not exist. */
  keyOf(name: string): string {
    const [first = ''] = name.split('.', 1);
    return this.row.has(first) ? first : aliasOf(first);
  }

  /** Counts parts of the pipeline. @throws badQuery (102) if there are too many */
  spend(parts: number): void {
    this.#parts += parts;
    if (this.#parts > MAX_PARTS) fail('badQuery', `A pipeline has at most ${MAX_PARTS} parts.`);
  }

  /** Counts the sort keys as often as a statement repeats them: for stages that cut rows, and for accumulators that depend on the order. */
  #spendOrder(stage: Stage): void {
    switch (stage.kind) {
      case 'sort':
        this.#sortKeys += stage.keys.length;
        break;
      case 'unwind':
        this.#sortKeys += 1;
        break;
      case 'skip':
      case 'limit':
        this.spend(this.#sortKeys);
        break;
      case 'group':
        for (const { operator, argument } of stage.accumulators) {
          if (operator === 'push') this.spend(this.#sortKeys);
          if (operator === 'first' || operator === 'last') this.spend(this.#sortKeys + stage.keys.length);
          if ((operator === 'min' || operator === 'max') && argument?.kind === 'json') this.spend(stage.keys.length);
        }
        this.#sortKeys = stage.keys.length;
    }
  }

  /** Reuses the column of a place, since a `where` may name one place many times. */
  #placeColumn(place: Extract<Expression, { form: 'place' }>): Column {
    const key = `${place.column.id} ${JSON.stringify(place.path)}`;
    const column = this.#places.get(key) ?? this.#compute(place);
    this.#places.set(key, column);
    return column;
  }

  #compute(expression: Expression): Column {
    const copies = this.#copiesIn(expression);
    if (copies > MAX_COPIES) fail('badQuery', `A value of a pipeline is put together from at most ${MAX_COPIES} others.`);
    const column = this.column(expression, !mayBeAbsent(expression));
    this.#copies.set(column, copies);
    this.#pending.push([column, expression]);
    return column;
  }

  #copiesIn(expression: Expression): number {
    const sum = (items: readonly Expression[]) => items.reduce((all, item) => all + this.#copiesIn(item), 0);
    const held = (column: Column | null) => (column ? (this.#copies.get(column) ?? 1) : 0);
    switch (expression.form) {
      case 'literal':
        return 1;
      case 'column':
      case 'place':
      case 'without':
        return held(expression.column);
      case 'edited':
        return held(expression.column) + held(expression.value);
      case 'object':
        return sum(expression.members.map(([, value]) => value));
      case 'array':
        return sum(expression.items);
      case 'call':
        return growing.has(expression.kind) ? sum(expression.items) : 1;
    }
  }

  #computePending(): void {
    if (this.#pending.length > 0) this.stages.push({ kind: 'compute', columns: this.#pending });
    this.#pending = [];
  }
}

/** Kinds of results that may be longer than each operand. */
const growing: ReadonlySet<ValueKind['kind']> = new Set(['text', 'json']);

const absentForms: ReadonlySet<Expression['form']> = new Set(['place', 'edited', 'without']);

/** Whether an absent value is left out of the results, as a field is; other values come out as null. */
function mayBeAbsent(expression: Expression): boolean {
  return absentForms.has(expression.form) || (expression.form === 'object' && expression.compact);
}
