import type { Statement } from '../../sql/sql-writer.ts';
import { catalogVersionSql } from '../schema/catalog.ts';
import type { Unit } from './compile-group.ts';
import { failUnless } from './sql-assertion.ts';

/**
 * The last statement of a transaction: fails if the schema version is no longer the one it was planned under (sql-assertion.ts). By then its
 * statements have locked their tables against schema changes, so the version cannot change before the commit.
 */
export function schemaVersionGuard(schemaName: string, changes: number): Statement {
  return { text: `SELECT ${guardExpression(schemaName, 1)}`, params: [changes] };
}

/**
 * Returns the only statement of a transaction with the guard folded in; `null` if that is impossible. The guard checks nothing if the statement
 * returns no row.
 */
export function withSchemaVersionGuard(
  { statements: [statement], tail }: Unit,
  schemaName: string,
  changes: number,
): Statement | null {
  if (!statement || tail === null) return null;
  const { text, params } = statement;
  return { text: `${text}${tail}${guardExpression(schemaName, params.length + 1)}`, params: [...params, changes] };
}

function guardExpression(schemaName: string, n: number): string {
  return failUnless(`(${catalogVersionSql(schemaName)}) = $${n}::bigint`);
}
