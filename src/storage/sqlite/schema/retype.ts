import type { SchemaStep } from '../../../schema/change.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../../schema/model.ts';
import { type StoredValue, storageOf, ValueConverter } from '../../../values/index.ts';
import { quoted as quote } from '../../sql/sql-writer.ts';
import type { Connection } from '../connection/connection.ts';

type Retype = Extract<SchemaStep, { kind: 'retypeField' }>;

/** SQL function that converts a value. */
const CONVERT = 'rds_retype';

/**
 * Copies the records of a table to its copy, with the values of one field converted, in one pass.
 * @param after has the copy, which is empty and has no indexes yet
 * @throws cannotConvert (111)
 */
export function copyConverted(connection: Connection, change: Retype, old: TableSchema, after: Schema): void {
  const { db } = connection;
  const table = tableOf(after, change.className);
  const [from, to] = [fieldOf(old, change.name), fieldOf(table, change.name)];
  const refuses = change.onError === 'refuse' || from.required === true;
  const converter = new ValueConverter(change.name, from, to, from.required);
  const isBoolean = storageOf(from) === 'boolean';
  db.function(CONVERT, { deterministic: false }, (objectId, value) => {
    const converted = converter.convert(objectId as string, (isBoolean ? value === 1 : value) as StoredValue);
    return typeof converted === 'boolean' ? Number(converted) : converted;
  });
  const column = quote(from.column);
  const kept = [
    '"_seq"',
    ...[...old.fields.values()].flatMap((field) => (field.type === 'Relation' ? [] : [quote(field.column)])),
  ];
  const values = kept.map((name) =>
    name === column ? `CASE WHEN ${name} IS NULL THEN NULL ELSE ${CONVERT}("objectId", ${name}) END` : name,
  );
  const [target, source] = [quote(table.sqlName), quote(old.sqlName)];
  db.exec(`INSERT INTO ${target} (${kept.join(', ')}) SELECT ${values.join(', ')} FROM ${source} ORDER BY "_seq"`);
  if (to.type === 'Pointer') removeDangling(connection, converter, { table, target, source, column }, after);
  if (refuses && converter.failures > 0) throw converter.refusal();
}

/** Notes and clears Pointers to records that do not exist. */
function removeDangling(
  { db }: Connection,
  converter: ValueConverter,
  { table, target, source, column }: { table: TableSchema; target: string; source: string; column: string },
  { tables }: Schema,
): void {
  const field = [...table.fields.values()].find((one) => quote(one.column) === column);
  const pointedAt = tables.get(field?.targetClass ?? '');
  const exists = pointedAt ? `EXISTS (SELECT 1 FROM ${quote(pointedAt.sqlName)} AS p WHERE p."objectId" = n.${column})` : 'false';
  const dangling = `n.${column} IS NOT NULL AND NOT ${exists}`;
  const count = Number(db.prepare(`SELECT count(*) AS n FROM ${target} AS n WHERE ${dangling}`).get()?.n);
  if (count === 0) return;
  const examples = db
    .prepare(
      `SELECT n."objectId", o.${column} AS value FROM ${target} AS n JOIN ${source} AS o ON o."_seq" = n."_seq" WHERE ${dangling} ORDER BY n."_seq" LIMIT 5`,
    )
    .all();
  examples.forEach((row, at) => {
    converter.fail(row.objectId as string, row.value as StoredValue, at === 0 ? count - examples.length + 1 : 1);
  });
  db.exec(`UPDATE ${target} AS n SET ${column} = NULL WHERE ${dangling}`);
}
