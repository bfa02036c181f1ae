import { type Field, optionsOf, type TableSchema } from './model.ts';
import { freeName } from './sql-names.ts';

/**
 * Names that an engine keeps for itself: columns of a full-text table (https://sqlite.org/fts5.html, "reserved fts5 column name"), system
 * columns (https://www.postgresql.org/docs/current/ddl-system-columns.html).
 */
const reservedColumns = ['rank', 'rowid', 'tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];

/** Adds fields to a table. The existing fields are copied once, not for each added field. */
export class TableGrowth {
  /** Includes the fields added so far. */
  readonly table: TableSchema;
  readonly #fields: Map<string, Field>;
  readonly #taken: Set<string>;

  constructor(table: TableSchema) {
    this.#fields = new Map(table.fields);
    this.#taken = new Set([...reservedColumns, ...Array.from(table.fields.values(), (field) => field.column.toLowerCase())]);
    this.table = { ...table, fields: this.#fields };
  }

  /** @throws Error if the field exists, which is a bug */
  add({ name, type, targetClass, ...options }: Omit<Field, 'column'>): Field {
    const { className, sqlName } = this.table;
    if (this.#fields.has(name)) throw new Error(`field ${className}.${name} exists`);
    // Based on the SQL name, which differs for tables whose names differ by case: `t_Team` has join tables `j_Team~…`.
    const wanted = type === 'Relation' ? `j${sqlName.slice(1)}~${name}` : name;
    const field: Field = {
      name,
      type,
      column: freeName(wanted, this.#taken),
      ...(targetClass === undefined ? {} : { targetClass }),
      ...optionsOf(options),
    };
    this.#taken.add(field.column.toLowerCase());
    this.#fields.set(name, field);
    return field;
  }
}
