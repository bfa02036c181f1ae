import type { DatabaseSync } from 'node:sqlite';
import { type Field, fieldOf, type TableSchema, type UniqueIndex } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { contradiction, type Duplicates, LISTED, LISTED_LACKING, lacking, newlyRequired } from '../../constraints.ts';
import { quoted as quote } from '../../sql/sql-writer.ts';
import { keyExpressions, uniqueIndexName } from '../../sql/unique-key.ts';
import { SQLITE_CONSTRAINT_UNIQUE } from '../connection/map-error.ts';
import { sqliteDialect } from '../sql/dialect.ts';

/** Creates a unique index. @throws contradictedIndex (137) if records contradict it */
export function createUniqueIndex(db: DatabaseSync, table: TableSchema, index: UniqueIndex): void {
  const keys = keyExpressions(table, index, sqliteDialect);
  const name = quote(uniqueIndexName(table, index.name));
  try {
    db.exec(`CREATE UNIQUE INDEX ${name} ON ${quote(table.sqlName)} (${keys.join(', ')})`);
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_CONSTRAINT_UNIQUE) throw error;
    throw contradictionOf(db, table, index, keys);
  }
}

/** Drops a unique index. */
export function dropUniqueIndex(db: DatabaseSync, table: TableSchema, name: string): void {
  db.exec(`DROP INDEX IF EXISTS ${quote(uniqueIndexName(table, name))}`);
}

function contradictionOf(db: DatabaseSync, table: TableSchema, index: UniqueIndex, keys: readonly string[]) {
  const groups = keys.join(', ');
  const present = keys.map((key) => `${key} IS NOT NULL`).join(' AND ');
  const found = db
    .prepare(
      `SELECT min("_seq") AS first, count(*) OVER () AS total, json_group_array("objectId") AS ids FROM ${quote(table.sqlName)}
        WHERE ${present} GROUP BY ${groups} HAVING count(*) > 1 ORDER BY min("_seq") LIMIT ${LISTED.values}`,
    )
    .all();
  const fields = index.fields.map((name) => fieldOf(table, name));
  const record = db.prepare(
    `SELECT ${fields.map(({ column }) => quote(column)).join(', ')} FROM ${quote(table.sqlName)} WHERE "_seq" = ?`,
  );
  record.setReturnArrays(true);
  const duplicates = found.map(
    ({ first, ids }): Duplicates => ({
      values: record.get(first as number) as unknown as StoredValue[],
      objectIds: (JSON.parse(ids as string) as string[]).slice(0, LISTED.objectIds),
    }),
  );
  return contradiction(index, fields, Number(found[0]?.total ?? 0), duplicates);
}

/**
 * Checks, inside the transaction of a schema change, that records have values of the fields that it requires.
 * @throws recordsLackField (142)
 */
export function requireValues(db: DatabaseSync, before: TableSchema | undefined, after: TableSchema): void {
  for (const field of newlyRequired(before, after)) {
    const table = quote(after.sqlName);
    const count = Number(db.prepare(`SELECT count(*) AS records FROM ${table} WHERE ${isAbsent(field)}`).get()?.records);
    if (count === 0) continue;
    const some = db.prepare(
      `SELECT "objectId" AS id FROM ${table} WHERE ${isAbsent(field)} ORDER BY "_seq" LIMIT ${LISTED_LACKING}`,
    );
    throw lacking(
      field,
      count,
      some.all().map(({ id }) => String(id)),
    );
  }
}

const isAbsent = (field: Field): string => {
  const column = quote(field.column);
  return storageOf(field) === 'text' ? `(${column} IS NULL OR ${column} = '')` : `${column} IS NULL`;
};
