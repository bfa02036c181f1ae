import { fail } from '../../../errors/fail.ts';
import type { Filter } from '../../../query/filter.ts';
import { type Field, fieldOf, type TableSchema } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { StoredValue } from '../../../values/type.ts';
import { compileRequire } from '../../sql/mutation.ts';
import type { Connection } from '../connection/connection.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';

const SQLITE_CONSTRAINT_UNIQUE = 2067;

/** What a write sets. */
export type Values = readonly (readonly [Field, StoredValue])[];

/**
 * @param firstTaken names the first unique field whose value another record has; of several, SQLite tells another one
 * @throws duplicateValue, or the error of the field whose value another record has (schema/system-tables.ts)
 */
export function unlessTaken<T>(table: TableSchema, write: () => T, firstTaken: () => string | undefined = () => undefined): T {
  try {
    return write();
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode !== SQLITE_CONSTRAINT_UNIQUE) throw error;
    // UNIQUE constraint failed: t__User._username_key
    const column = message.slice(message.lastIndexOf('.') + 1);
    const told = table.fields.values().find((one) => one.column === column)?.name ?? '';
    const errors = uniqueFieldsOf(table.className);
    return fail(errors.get((errors.has(told) && firstTaken()) || told) ?? 'duplicateValue');
  }
}

/** The first of a table's unique fields, in their order, of which another record has the value that is set. */
export function firstTakenOf(connection: Connection, table: TableSchema, objectId: StoredValue, set: Values): string | undefined {
  const values = new Map([...set].map(([{ name }, value]) => [name, value]));
  const others: Filter = { kind: 'not', item: { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: objectId } };
  const isTaken = (name: string) => {
    const value = values.get(name) ?? null;
    if (value === null) return false;
    const same: Filter = { kind: 'compare', field: fieldOf(table, name), op: 'eq', value };
    return connection.first(compileRequire({ table, filter: { kind: 'and', items: [same, others] } }, dialect));
  };
  return uniqueFieldsOf(table.className).keys().find(isTaken);
}
