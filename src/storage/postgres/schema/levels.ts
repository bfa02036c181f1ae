import type { Scope } from '../../migrations.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { quotedName } from '../sql/names.ts';

/** The table of the additive migrations that have run, which versions before levels do not know. */
export const levelsTable = (schemaName: string): string => `${quotedName(schemaName)}.rds_levels`;

/** Returns the statements that create the table. */
export function levelsStatements(schemaName: string): Statement[] {
  const text = `CREATE TABLE IF NOT EXISTS ${levelsTable(schemaName)} (scope text COLLATE "C" PRIMARY KEY, reached integer NOT NULL)`;
  return [{ text, params: [] }];
}

/** Returns a SELECT of the number of the last migration that has run; without a row if none was additive. */
export function reachedSql(schemaName: string, scope: Scope): string {
  return `SELECT reached FROM ${levelsTable(schemaName)} WHERE scope = '${scope}'`;
}

/** Returns the statement that saves this number. */
export function saveReached(schemaName: string, scope: Scope, reached: number): Statement {
  const text = `INSERT INTO ${levelsTable(schemaName)} AS l (scope, reached) VALUES ($1, $2::integer)
    ON CONFLICT (scope) DO UPDATE SET reached = greatest(l.reached, excluded.reached)`;
  return { text, params: [scope, reached] };
}
