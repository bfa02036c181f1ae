import { fieldOf, type TableSchema, type UniqueIndex } from '../../../schema/model.ts';
import { storageOf } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { contradiction, type Duplicates, LISTED, LISTED_LACKING, lacking, newlyRequired } from '../../constraints.ts';
import { keyExpressions, uniqueIndexName } from '../../sql/unique-key.ts';
import type { Session } from '../connection/database.ts';
import { violatedConstraint } from '../connection/value-errors.ts';
import { postgresDialect } from '../sql/dialect.ts';
import { quotedName as quote } from '../sql/names.ts';
import { uniqueKeyFunctions } from '../sql/unique-key.ts';
import { qualified } from './index-names.ts';

/** Returns the statements that create a unique index of a table without records. */
export function uniqueIndexStatements(schemaName: string, table: TableSchema, index: UniqueIndex): string[] {
  const keys = keyExpressions(table, index, postgresDialect(schemaName));
  const name = quote(uniqueIndexName(table, index.name));
  return [
    ...uniqueKeyFunctions(quote(schemaName), index.as ?? 'text'),
    `CREATE UNIQUE INDEX ${name} ON ${qualified(schemaName, table.sqlName)} (${keys.join(', ')})`,
  ];
}

/** Returns the statement that drops a unique index. */
export function dropUniqueIndex(schemaName: string, table: TableSchema, name: string): string {
  return `DROP INDEX IF EXISTS ${qualified(schemaName, uniqueIndexName(table, name))}`;
}

const plain = (text: string) => ({ text, params: [] });

/**
 * Creates a unique index of a table with records, inside the transaction of a schema change. Reads of the table go on, and writes wait.
 * @throws contradictedIndex (137) if records contradict it
 */
export async function buildUniqueIndex(
  session: Session,
  schemaName: string,
  table: TableSchema,
  index: UniqueIndex,
): Promise<void> {
  await lockForCheck(session, schemaName, table);
  await session.query(plain('SAVEPOINT u'));
  const statements = uniqueIndexStatements(schemaName, table, index);
  const sent = await Promise.allSettled(statements.map((text) => session.query(plain(text))));
  const failed = sent.find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') {
    await session.query(plain('RELEASE SAVEPOINT u'));
    return;
  }
  if (violatedConstraint(failed.reason) === undefined) throw failed.reason;
  // The lock was taken before, so the records are still those that contradict the index.
  await session.query(plain('ROLLBACK TO SAVEPOINT u'));
  throw await contradictionOf(session, schemaName, table, index);
}

/** Other transactions that write to the table have committed, and later ones wait. */
async function lockForCheck(session: Session, schemaName: string, table: TableSchema): Promise<void> {
  await session.query(plain(`LOCK TABLE ${qualified(schemaName, table.sqlName)} IN SHARE MODE`));
}

async function contradictionOf(session: Session, schemaName: string, table: TableSchema, index: UniqueIndex) {
  const dialect = postgresDialect(schemaName);
  // The functions of the index were rolled back with it.
  for (const text of uniqueKeyFunctions(quote(schemaName), index.as ?? 'text')) await session.query(plain(text));
  const name = qualified(schemaName, table.sqlName);
  const keys = keyExpressions(table, index, dialect);
  const present = keys.map((key) => `${key} IS NOT NULL`).join(' AND ');
  const groups = await session.query(
    plain(
      `SELECT min("_seq"), count(*) OVER () FROM ${name} WHERE ${present} GROUP BY ${keys.join(', ')}
        HAVING count(*) > 1 ORDER BY min("_seq") LIMIT ${LISTED.values}`,
    ),
  );
  const fields = index.fields.map((field) => fieldOf(table, field));
  const firstKeys = keyExpressions(table, index, dialect, 'f');
  const same = keyExpressions(table, index, dialect, 't').map((key, at) => `${key} = ${firstKeys[at]}`);
  const columns = fields.map(({ column }) => `f.${quote(column)}`).join(', ');
  const records = await session.query({
    text: `SELECT * FROM (
        SELECT f."_seq" AS first, t."objectId", row_number() OVER (PARTITION BY f."_seq" ORDER BY t."_seq") AS nth, ${columns}
        FROM ${name} AS f JOIN ${name} AS t ON ${same.join(' AND ')} WHERE f."_seq" = ANY($1::bigint[])
      ) AS r WHERE nth <= ${LISTED.objectIds} ORDER BY first, nth`,
    params: [`{${groups.rows.map(([first]) => String(first)).join(',')}}`],
  });
  const duplicates = new Map<unknown, Duplicates & { objectIds: string[] }>();
  for (const [first, objectId, , ...values] of records.rows) {
    const known = duplicates.get(first) ?? { values: values as StoredValue[], objectIds: [] };
    known.objectIds.push(objectId as string);
    duplicates.set(first, known);
  }
  return contradiction(index, fields, Number(groups.rows[0]?.[1] ?? 0), [...duplicates.values()]);
}

/**
 * Checks, inside the transaction of a schema change, that records have values of the fields that it requires.
 * @throws recordsLackField (142)
 */
export async function requireValues(
  session: Session,
  schemaName: string,
  before: TableSchema | undefined,
  after: TableSchema,
): Promise<void> {
  const fields = newlyRequired(before, after);
  if (fields.length === 0) return;
  await lockForCheck(session, schemaName, after);
  for (const field of fields) {
    const column = quote(field.column);
    const isAbsent = storageOf(field) === 'text' ? `(${column} IS NULL OR ${column} = '')` : `${column} IS NULL`;
    const from = `FROM ${qualified(schemaName, after.sqlName)} WHERE ${isAbsent}`;
    const { rows } = await session.query(plain(`SELECT count(*) ${from}`));
    const count = Number(rows[0]?.[0]);
    if (count === 0) continue;
    const some = await session.query(plain(`SELECT "objectId" ${from} ORDER BY "_seq" LIMIT ${LISTED_LACKING}`));
    throw lacking(
      field,
      count,
      some.rows.map(([id]) => String(id)),
    );
  }
}

/** A coordinator adds the number of a shard to the names of its indexes. */
const SHARD_SUFFIX = /_\d+$/;

/**
 * Returns the unique index that clients made and that was violated.
 * @param constraint as named by the database's error
 */
export function uniqueIndexOfConstraint(table: TableSchema, constraint: string): UniqueIndex | undefined {
  if (table.uniqueIndexes.size === 0) return undefined;
  const names = new Set([quote(constraint), quote(constraint.replace(SHARD_SUFFIX, ''))]);
  return table.uniqueIndexes.values().find(({ name }) => names.has(quote(uniqueIndexName(table, name))));
}
