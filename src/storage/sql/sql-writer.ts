import type { Comparison } from '../../query/model/filter.ts';
import type { Field } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { StoredValue } from '../../values/types/type.ts';
import { comparisonSigns, type Dialect, type SqlOut } from './dialect.ts';

/** SQL text and its values. The text depends only on the shape of a query, so that prepared statements are reused. */
export interface Statement {
  readonly text: string;
  readonly params: readonly StoredValue[];
}

const quotedNames = new Map<string, string>();

/** Returns an identifier in double quotes. */
export function quoted(identifier: string): string {
  let name = quotedNames.get(identifier);
  if (name === undefined) {
    if (quotedNames.size > 20_000) quotedNames.clear();
    name = `"${identifier.replaceAll('"', '""')}"`;
    quotedNames.set(identifier, name);
  }
  return name;
}

/** Collects SQL text and the values to bind, from left to right. */
export class SqlWriter implements SqlOut {
  readonly dialect: Dialect;
  /** Whether sub-queries check the time limit as the statement itself does. */
  readonly interruptible: boolean;
  text = '';
  readonly params: StoredValue[] = [];
  #aliases = 0;
  #joins = true;

  constructor(dialect: Dialect, interruptible = false) {
    this.dialect = dialect;
    this.interruptible = interruptible;
  }

  add(sql: string): this {
    this.text += sql;
    return this;
  }

  table(sqlName: string): this {
    this.text += this.dialect.table(sqlName);
    return this;
  }

  name(identifier: string): this {
    this.text += this.dialect.quoted(identifier);
    return this;
  }

  column(alias: string, column: string): this {
    this.text += `${alias}.${this.dialect.quoted(column)}`;
    return this;
  }

  bind(value: StoredValue): this {
    this.text += this.parameter(value);
    return this;
  }

  parameter(value: StoredValue): string {
    return this.dialect.placeholder(this.params.push(value));
  }

  /** Whether the current position is among ANDs, where planners turn sub-queries into joins; false below OR, NOT and CASE. */
  get joins(): boolean {
    return this.#joins;
  }

  /** Calls `write` with another value of `joins`. */
  joining(joins: boolean, write: () => void): void {
    const before = this.#joins;
    this.#joins = joins;
    write();
    this.#joins = before;
  }

  /** Returns an alias for the table of a sub-query, unique in the statement: `t1`, `t2`, ... */
  newAlias(): string {
    this.#aliases += 1;
    return `t${this.#aliases}`;
  }

  statement(): Statement {
    return { text: this.text, params: this.params };
  }
}

const actors: ReadonlySet<string> = new Set(['createdBy', 'updatedBy', 'user']);

/**
 * Returns whether a field names an actor. Nearly all records, logs too, hold the master dummy user there, so the indexes of these fields exclude it.
 */
export function isActorField(field: Field): boolean {
  return field.targetClass === '_User' && actors.has(field.name);
}

const required: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt']);

/** Returns whether every record has the field. Its column is NOT NULL, and its indexes and order need no NULL handling. */
export function isRequired(field: Field): boolean {
  return required.has(field.name);
}

/** Writes a comparison of a plain column with a value, in a form that an index can answer. */
export function writeCompare(out: SqlWriter, alias: string, field: Field, op: Comparison, value: StoredValue): void {
  out
    .column(alias, field.column)
    .add(comparisonSigns[op])
    .bind(out.dialect.toColumn(storageOf(field), value));
  if (op === 'eq' && value !== 'master') writeIndexCondition(out, alias, field);
}

/** Writes whether a plain column has one of the values. A single value becomes an equality, which planners estimate better. */
export function writeIn(out: SqlWriter, alias: string, field: Field, values: readonly StoredValue[]): void {
  const [first] = values;
  if (first === undefined) {
    out.add('false');
    return;
  }
  if (values.length === 1) {
    writeCompare(out, alias, field, 'eq', first);
    return;
  }
  out.dialect.isMember(out, () => out.column(alias, field.column), values, storageOf(field));
  if (!values.includes('master')) writeIndexCondition(out, alias, field);
}

/** Repeats the condition of a partial index: without it the planner may not use the index. */
function writeIndexCondition(out: SqlWriter, alias: string, field: Field): void {
  if (isActorField(field)) out.add(' AND ').column(alias, field.column).add(" <> 'master'");
}
