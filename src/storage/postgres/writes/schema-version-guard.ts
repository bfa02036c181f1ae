import type { Statement } from '../../sql/writer.ts';
import { catalogVersionSql } from '../schema/catalog.ts';
import type { Unit } from './compile-group.ts';
import { failUnless } from './sql-assertion.ts';

/**
 * A transaction that was planned under a schema holds against the catalogue that it still is the schema, as its last step: by then its
 * statements have locked their tables against schema changes, so that none can come in between any more. It fails where it is not (sql-assertion.ts).
 */
export function schemaVersionGuard(schemaName: string, changes: number): Statement {
  return { text: `SELECT ${checkOf(schemaName, 1)}`, params: [changes] };
}

/** The only statement of a transaction with the check as part of it; it checks nothing where it returns no row. */
export function withSchemaVersionGuard(
  { statements: [statement], tail }: Unit,
  schemaName: string,
  changes: number,
): Statement | null {
  if (!statement || tail === null) return null;
  const { text, params } = statement;
  return { text: `${text}${tail}${checkOf(schemaName, params.length + 1)}`, params: [...params, changes] };
}

function checkOf(schemaName: string, n: number): string {
  return failUnless(`(${catalogVersionSql(schemaName)}) = $${n}::bigint`);
}
