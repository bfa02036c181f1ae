import { createHash } from 'node:crypto';
import { fieldOf, isSameIndex, type Schema, type TableSchema, type UniqueIndex } from '../../schema/model.ts';
import { storageOf } from '../../values/index.ts';
import type { StoredValue } from '../../values/types/type.ts';
import type { KeyedRecord } from '../by-key.ts';
import { SchemaChanged } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { SqlWriter, type Statement } from './sql-writer.ts';

/** Begins the SQL names of the unique indexes that clients make. */
export const UNIQUE_INDEX_PREFIX = 'x~';

/** Longer names would be changed by the suffix that a coordinator adds for shards, because PostgreSQL's limit is 63 bytes. */
const MAX_NAME_LENGTH = 48;

/** Returns the SQL name of a unique index: errors name it. */
export function uniqueIndexName({ sqlName }: Pick<TableSchema, 'sqlName'>, name: string): string {
  const whole = `${UNIQUE_INDEX_PREFIX}${sqlName}~${name}`;
  if (whole.length <= MAX_NAME_LENGTH) return whole;
  return (
    UNIQUE_INDEX_PREFIX +
    createHash('sha256')
      .update(whole)
      .digest('hex')
      .slice(0, MAX_NAME_LENGTH - 2)
  );
}

/** Returns the expressions that a unique index is built on, one for each field. @param alias of the table; left out: none */
export function keyExpressions(table: TableSchema, { fields, as }: UniqueIndex, dialect: Dialect, alias?: string): string[] {
  const prefix = alias === undefined ? '' : `${alias}.`;
  return fields.map((name) => {
    const field = fieldOf(table, name);
    return dialect.uniqueKey(as ?? 'text', storageOf(field), prefix + dialect.quoted(field.column));
  });
}

/**
 * Compiles a read of the records that have given keys. Rows: the position of the key, from 0, the objectId, updatedAt, and the values of the fields of the index.
 * @param keys values of these fields, none of them absent
 */
export function compileByKey(
  table: TableSchema,
  index: UniqueIndex,
  keys: readonly (readonly StoredValue[])[],
  dialect: Dialect,
): Statement {
  const out = new SqlWriter(dialect);
  const columns = index.fields.map((name) => fieldOf(table, name));
  const storages = columns.map(storageOf);
  out.add('SELECT k.n').add(', ').column('t', 'objectId').add(', ').column('t', 'updatedAt');
  for (const { column } of columns) out.add(', ').column('t', column);
  out.add(' FROM ');
  dialect.keyRows(out, JSON.stringify(keys), storages);
  dialect.joinByKey(out.add(' AS k '), table.sqlName, uniqueIndexName(table, index.name));
  keyExpressions(table, index, dialect, 't').forEach((expression, at) => {
    const value = dialect.uniqueKey(index.as ?? 'text', storages[at] ?? 'text', `k.k${at}`);
    out.add(at > 0 ? ' AND ' : ' ON ').add(`${expression} = ${value}`);
  });
  return out.statement();
}

/** Checks that a table, in the present schema, has a unique index. @throws SchemaChanged */
export function requireUniqueIndex({ tables }: Schema, { className }: TableSchema, index: UniqueIndex): void {
  if (!isSameIndex(tables.get(className)?.uniqueIndexes.get(index.name), index)) throw new SchemaChanged();
}

/** Returns what the rows of `compileByKey` say. */
export function keyedRecords(rows: readonly (readonly unknown[])[], keyCount: number): (KeyedRecord | null)[] {
  const found = new Array<KeyedRecord | null>(keyCount).fill(null);
  for (const [n, objectId, updatedAt, ...values] of rows)
    found[Number(n)] = { objectId: objectId as string, updatedAt: Number(updatedAt), values: values as StoredValue[] };
  return found;
}
