import { type ServiceError, serviceError } from '../../../errors/fail.ts';
import type { Filter } from '../../../query/model/filter.ts';
import { type Field, fieldOf, type TableSchema, type UniqueIndex } from '../../../schema/model.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { uniqueKey } from '../../../schema/unique-key.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { DuplicateKey } from '../../constraints.ts';
import type { Mutation } from '../../port.ts';
import { compileRequire } from '../../sql/mutation.ts';
import { SqlWriter } from '../../sql/sql-writer.ts';
import { compileByKey, keyedRecords, uniqueIndexName } from '../../sql/unique-key.ts';
import type { Connection } from '../connection/connection.ts';
import { SQLITE_CONSTRAINT_UNIQUE } from '../connection/map-error.ts';
import { sqliteDialect as dialect } from '../sql/dialect.ts';

type RecordWrite = Extract<Mutation, { kind: 'insert' | 'update' }>;

/**
 * Runs a write and maps the violation of a unique index.
 * @param attempted the write of a record; if it violates several indexes, the first one counts, as in PostgreSQL: SQLite reports another
 * @throws DuplicateKey (137); duplicateValue, or the error of the field whose value another record has (schema/system-tables.ts)
 */
export function unlessTaken<T>(connection: Connection, table: TableSchema, write: () => T, attempted?: RecordWrite): T {
  try {
    return write();
  } catch (error) {
    const { errcode, message } = error as { errcode?: number; message: string };
    if (errcode !== SQLITE_CONSTRAINT_UNIQUE) throw error;
    throw (attempted && firstRefusal(connection, attempted)) ?? reported(table, message);
  }
}

/** Returns the error of the index that a message names. */
function reported(table: TableSchema, message: string): ServiceError {
  // UNIQUE constraint failed: index 'x~t_T~name'
  const [, name] = /index '(.*)'$/.exec(message) ?? [];
  const index = table.uniqueIndexes.values().find((one) => uniqueIndexName(table, one.name) === name);
  if (index) return new DuplicateKey(table.className, index);
  // UNIQUE constraint failed: t__User._username_key
  const column = message.slice(message.lastIndexOf('.') + 1);
  const field = table.fields.values().find((one) => one.column === column);
  return serviceError(uniqueFieldsOf(table.className).get(field?.name ?? '') ?? 'duplicateValue');
}

/** Returns the error of the first index that a write violates, in the order in which they were made. */
function firstRefusal(connection: Connection, write: RecordWrite): ServiceError | undefined {
  const { table } = write;
  const values = valuesAfter(connection, write);
  const id = write.kind === 'update' ? write.objectId : (values.get('objectId') ?? null);
  const idIs: Filter = { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: id };
  const exists = (...items: Filter[]) => connection.first(compileRequire({ table, filter: { kind: 'and', items } }, dialect));
  if (write.kind === 'insert' && exists(idIs)) return serviceError('duplicateValue');
  for (const [name, error] of uniqueFieldsOf(table.className)) {
    const value = values.get(name) ?? null;
    const holds: Filter = { kind: 'compare', field: fieldOf(table, name), op: 'eq', value };
    if (value !== null && exists(holds, { kind: 'not', item: idIs })) return serviceError(error);
  }
  for (const index of table.uniqueIndexes.values()) {
    const holder = holderOf(connection, table, index, values);
    if (holder !== null && holder !== id) return new DuplicateKey(table.className, index);
  }
  return undefined;
}

/** Returns the id of the record that has the values of an index; `null` if none has. */
function holderOf(
  connection: Connection,
  table: TableSchema,
  index: UniqueIndex,
  values: ReadonlyMap<string, StoredValue>,
): string | null {
  const key = index.fields.map((name) => values.get(name) ?? null);
  if (key.some((value) => uniqueKey(index.as ?? 'text', value) === null)) return null;
  return keyedRecords(connection.all(compileByKey(table, index, [key], dialect)), 1)[0]?.objectId ?? null;
}

/** Returns the values that the record would have, as far as indexes have them. */
function valuesAfter(connection: Connection, write: RecordWrite): Map<string, StoredValue> {
  if (write.kind === 'insert') return new Map(write.values.map(([{ name }, value]) => [name, value]));
  const { table, objectId, assignments } = write;
  const names = new Set([...table.uniqueIndexes.values()].flatMap(({ fields }) => fields));
  const values = stored(
    connection,
    table,
    objectId,
    Array.from(names, (name) => fieldOf(table, name)),
  );
  for (const assignment of assignments) {
    const { name } = assignment.field;
    if (assignment.kind === 'set') values.set(name, assignment.value);
    else if (assignment.kind === 'increment') values.set(name, Number(values.get(name) ?? 0) + assignment.amount);
  }
  return values;
}

function stored(
  connection: Connection,
  table: TableSchema,
  objectId: string,
  fields: readonly Field[],
): Map<string, StoredValue> {
  if (fields.length === 0) return new Map();
  const out = new SqlWriter(dialect).add('SELECT ');
  fields.forEach(({ column }, at) => {
    out.add(at > 0 ? ', ' : '').column('t', column);
  });
  out.add(' FROM ').table(table.sqlName).add(' AS t WHERE ').column('t', 'objectId').add(' = ').bind(objectId);
  const row = connection.first(out.statement()) ?? [];
  return new Map(fields.map(({ name }, at) => [name, (row[at] ?? null) as StoredValue]));
}
