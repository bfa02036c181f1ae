import { serviceError } from '../../../errors/fail.ts';
import { fieldOf, type TableIndex, type TableSchema } from '../../../schema/model.ts';
import { SEARCH_INDEX } from '../../../schema/search-index.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Database, Session } from '../connection/database.ts';
import { quotedName as quote } from '../sql/names.ts';
import { searchExpression, searchFunctions } from '../sql/search.ts';
import { dropIndex, pendingList, qualified, userIndex } from './index-names.ts';

/**
 * Returns the statements that create the search index of a table, with one index column of words for each field. For an index that is filled later
 * (`isFilling`), only its functions are created.
 */
export function searchIndexStatements(schemaName: string, table: TableSchema, index: TableIndex): string[] {
  const made = [dropIndex(schemaName, table, index.name), ...searchFunctions(quote(schemaName))];
  if (index.isFilling) return made;
  return [...made, createSql(schemaName, table, index, 'CREATE INDEX'), analyzeSearchIndex(schemaName, table).text];
}

/** Builds the index concurrently with writes. A failed build leaves an invalid index. Must not run in a transaction. */
export function buildSearchIndex(schemaName: string, table: TableSchema, index: TableIndex): Statement {
  return { text: createSql(schemaName, table, index, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS'), params: [] };
}

/** Until then the planner has no statistics of the words. */
export function analyzeSearchIndex(schemaName: string, table: TableSchema): Statement {
  return { text: `ANALYZE ${qualified(schemaName, table.sqlName)}`, params: [] };
}

function createSql(schemaName: string, table: TableSchema, { name, keys }: TableIndex, create: string): string {
  const fields = keys.map(([key]) => fieldOf(table, key));
  const words = fields.map((field) => searchExpression(quote(schemaName), field, quote(field.column)));
  const on = qualified(schemaName, table.sqlName);
  return `${create} ${quote(userIndex(table, name))} ON ${on} USING gin (${words.join(', ')}) ${pendingList}`;
}

/** State of an index that is being built. `left`: invalid, left behind by a build that was interrupted. */
export type BuildState = 'none' | 'under way' | 'left' | 'built';

/** Checks for a running build first, so that one that ends in between is seen as built. @throws unavailable, timeout */
export async function buildState(database: Database, schemaName: string, table: TableSchema): Promise<BuildState> {
  const pending = {
    text: 'SELECT 1 FROM pg_stat_progress_create_index WHERE datname = current_database() AND relid = to_regclass($1)',
    params: [qualified(schemaName, table.sqlName)],
  };
  if ((await database.short(pending, schemaName)).length > 0) return 'under way';
  const [row] = await database.short(isValid(schemaName, table), schemaName);
  if (!row) return 'none';
  return row[0] === 1 ? 'built' : 'left';
}

const isValid = (schemaName: string, table: TableSchema): Statement => ({
  text: 'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)',
  params: [qualified(schemaName, userIndex(table, SEARCH_INDEX))],
});

/** For the transaction that marks the index as complete and has locked the catalogue. @throws unavailable if the index is missing or invalid */
export async function requireBuilt(session: Session, schemaName: string, table: TableSchema): Promise<void> {
  const { rows } = await session.query(isValid(schemaName, table));
  if (rows[0]?.[0] !== 1) throw serviceError('unavailable');
}

/** Cancels builds of the search indexes of these tables, in whatever process: a build holds a lock that conflicts with changes of the table. */
export function cancelBuilds(schemaName: string, tables: readonly TableSchema[]): Statement {
  const names = tables.map((table) => qualified(schemaName, userIndex(table, SEARCH_INDEX)));
  return {
    text: `SELECT pg_cancel_backend(pid) FROM pg_stat_progress_create_index
      WHERE datname = current_database() AND index_relid IN (SELECT to_regclass(json_array_elements_text($1::json))::oid)`,
    params: [JSON.stringify(names)],
  };
}
