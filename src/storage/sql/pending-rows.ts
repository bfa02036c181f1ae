import type { PendingRows } from '../engine.ts';
import { type KnownStore, refusalOf, type StoreIdentity } from '../identity.ts';
import type { Dialect } from './dialect.ts';
import { SqlWriter, type Statement } from './sql-writer.ts';

/**
 * Returns the statement that reads, in one row for `isAtRest`, the identity of a store and whether it has any of the rows. It names tables and
 * columns without the catalogue, and counts how many of these names are right.
 */
export function pendingRowsStatement(dialect: Dialect, wanted: readonly PendingRows[]): Statement {
  const out = new SqlWriter(dialect);
  out
    .add('SELECT s."systemId", s."appId", s.birth, s.generation, s.making, coalesce((SELECT l.reached FROM ')
    .table('rds_levels');
  out.add(` AS l WHERE l.scope = 'system'), c."templateVersion"), (SELECT count(*) FROM `);
  out.table('rds_tables').add(' AS t JOIN ').table('rds_fields').add(' AS f ON f."className" = t."className" WHERE ');
  for (const [index, { className, field = 'objectId' }] of wanted.entries()) {
    out
      .add(index === 0 ? '(' : ' OR (')
      .add('t."className" = ')
      .bind(className)
      .add(' AND t."sqlName" = ')
      .bind(sqlNameOf(className));
    out.add(' AND f.name = ').bind(field).add(' AND f."columnName" = ').bind(field).add(')');
  }
  out.add(')');
  for (const { className, field, values } of wanted) {
    out.add(', EXISTS (SELECT 1 FROM ').table(sqlNameOf(className)).add(' AS r');
    if (field !== undefined) {
      out.add(' WHERE ').column('r', field);
      if (values === undefined) out.add(' IS NOT NULL');
      else for (const [index, value] of values.entries()) out.add(index === 0 ? ' IN (' : ', ').bind(value);
      if (values !== undefined) out.add(')');
    }
    out.add(')');
  }
  out.add(' FROM ').table('rds_store').add(' AS s, ').table('rds_catalog').add(' AS c');
  return out.statement();
}

/** Name of a table that the service has made for itself, unless a caller's table of nearly the same name was there before. */
const sqlNameOf = (className: string) => `t_${className}`;

/**
 * Whether a store has none of the rows, and nothing else that opening it would deal with: another identity, or a version other than this one.
 * @param row of `pendingRowsStatement`
 */
export function isAtRest(
  row: readonly unknown[] | undefined,
  known: KnownStore,
  version: number,
  wanted: readonly PendingRows[],
): boolean {
  if (!row || known.birth === null || known.damagedAt !== null) return false;
  const [systemId, appId, birth, generation, making, templateVersion, names, ...found] = row;
  const identity = { systemId, appId, birth, generation, making } as StoreIdentity;
  if (making !== null || refusalOf({ state: 'store', identity }, known) !== null) return false;
  return templateVersion === version && names === wanted.length && found.every((one) => one === 0);
}
