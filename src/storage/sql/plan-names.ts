import type { Schema, TableSchema } from '../../schema/model.ts';
import { SEARCH_INDEX } from '../../schema/search-index.ts';
import { uniqueIndexName } from './unique-key.ts';

/** A table of the database, in names of the interface. */
export interface NamedTable {
  /** Class, or `Table.Field` for the members of a Relation. */
  readonly name: string;
  /** Left out for the members of a Relation. */
  readonly table?: TableSchema;
}

/** Name for the index by the order of creation, which no field has. */
export const CREATION_ORDER = '~creation';

/** Translates names of SQL into names of the interface. */
export class PlanNames {
  readonly #tables = new Map<string, NamedTable>();
  readonly #shortened: (name: string) => string;

  /** @param shortened returns a name as the database keeps it */
  constructor(schema: Schema, shortened: (name: string) => string = (name) => name) {
    this.#shortened = shortened;
    for (const table of schema.tables.values()) {
      this.#tables.set(shortened(table.sqlName), { name: table.className, table });
      for (const field of table.fields.values())
        if (field.type === 'Relation') this.#tables.set(shortened(field.column), { name: `${table.className}.${field.name}` });
    }
  }

  /** @returns `undefined` for a table that is not in the schema: a list of values, an index of words */
  tableOf(sqlName: string): NamedTable | undefined {
    return this.#tables.get(sqlName);
  }

  /** Returns the name of an index: as in the schema, or `~Field` for one that the table has for a field. */
  indexOf({ table }: NamedTable, sqlIndex: string): string | undefined {
    if (!table) return undefined;
    const is = (name: string) => this.#shortened(name) === sqlIndex;
    if (is(`u~${table.sqlName}`)) return '~objectId';
    if (is(`q~${table.sqlName}`)) return CREATION_ORDER;
    for (const { name } of table.indexes.values())
      if (is(`i~${table.sqlName}~${name}`)) return name === SEARCH_INDEX ? '~words' : name;
    for (const { name } of table.uniqueIndexes.values()) if (is(uniqueIndexName(table, name))) return name;
    for (const { name, column } of table.fields.values())
      if (is(`f~${table.sqlName}~${column}`) || is(`v~${table.sqlName}~${column}`)) return `~${name}`;
    return undefined;
  }

  /** Returns the fields of columns, in their order; other columns are left out. */
  fieldsOf({ table }: NamedTable, columns: readonly string[]): string[] {
    if (!table) return [];
    const names = new Map(table.fields.values().map(({ name, column }) => [column, name]));
    return [...new Set(columns.flatMap((column) => names.get(column) ?? []))];
  }
}
