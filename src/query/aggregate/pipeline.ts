import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import type { Field } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import { resolveName } from '../model/names.ts';
import type { QueryScope } from '../where/context.ts';
import type { Spending } from '../where/index.ts';
import { type Column, type Expression, kindOf, type Stage, type ValueKind } from './model.ts';
import { aliasOf } from './names.ts';

/** Parts of expressions and conditions in one pipeline, all stages together; engines bound the size of a statement. */
const maxParts = 1_000;
/** Values of records that one value may be put together from: stages that double a text or an array would soon fill the memory. */
const maxCopies = 1_000;
/** Members of a result object; SQLite has at most 2,000 columns in a result. */
const maxColumns = 1_900;

/** A pipeline in the making: the columns that the rows have so far, by name, and the stages that made them. */
export class PipelineBuilder {
  readonly grant: Grant;
  readonly scope: QueryScope;
  /** What the `where` before it and its stages have brought so far. */
  readonly spent: Spending;
  readonly stages: Stage[] = [];
  readonly base: (readonly [Column, Field])[] = [];
  readonly sequence: Column;
  /** Whether the rows are still records, whole and all of them, so that a `$match` may yet go into the scan. */
  atRecords = true;
  row = new Map<string, Column>();
  readonly #places = new Map<string, Column>();
  /** How many values of records a computed column may hold; those of the records hold one. */
  readonly #copies = new Map<Column, number>();
  #pending: (readonly [Column, Expression])[] = [];
  #columns = 0;
  #parts = 0;
  /** Columns that the rows are sorted by so far. */
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

  /** A new column. @param from the column whose values it takes over, or collects */
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

  /** Replaces what the rows are made of. @throws badQuery (102) for too many columns */
  setRow(row: Map<string, Column>): void {
    this.#computePending();
    if (row.size > maxColumns) fail('badQuery', `An aggregation makes at most ${maxColumns} fields.`);
    this.row = row;
    this.atRecords = false;
  }

  /** Columns that hold the values of expressions over the row; new ones are computed before the next stage. */
  columnsOf(expressions: readonly Expression[]): Column[] {
    return expressions.map((expression) => {
      if (expression.form === 'column') return expression.column;
      if (expression.form === 'place') return this.#placeColumn(expression);
      // What is computed may speak of a column that is still to be computed.
      if (expression.form === 'edited') this.#computePending();
      return this.#compute(expression);
    });
  }

  /**
   * What a name, or a dotted place, means in the row as it is now; `null` where no row has it. What is below the field counts as parts.
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
    // The name of the field is known to be good; what follows it is not.
    resolveName(`objectId.${path.join('.')}`, this.grant);
    return column.kind === 'json' ? { form: 'place', column, path, kind: 'json' } : null;
  }

  /** The field of the row that a name, or a dotted place, begins with; there may be none of that name. */
  keyOf(name: string): string {
    const [first = ''] = name.split('.', 1);
    return this.row.has(first) ? first : aliasOf(first);
  }

  /** Counts parts of the pipeline. @throws badQuery (102) where there are too many */
  spend(parts: number): void {
    this.#parts += parts;
    if (this.#parts > maxParts) fail('badQuery', `A pipeline has at most ${maxParts} parts.`);
  }

  /** Counts the order of the rows as often as a statement writes it out: for the rows that a stage keeps, for what groups take in order. */
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

  /** A `where` may ask for one place many times. */
  #placeColumn(place: Extract<Expression, { form: 'place' }>): Column {
    const key = `${place.column.id} ${JSON.stringify(place.path)}`;
    const column = this.#places.get(key) ?? this.#compute(place);
    this.#places.set(key, column);
    return column;
  }

  #compute(expression: Expression): Column {
    const copies = this.#copiesIn(expression);
    if (copies > maxCopies) fail('badQuery', `A value of a pipeline is put together from at most ${maxCopies} others.`);
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

/** Whether a value that is not there is left out of the results, as a field is; other values come out as null. */
function mayBeAbsent(expression: Expression): boolean {
  return absentForms.has(expression.form) || (expression.form === 'object' && expression.compact);
}
