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
  return { text: createSql(schemaName, table, index, CONCURRENTLY), params: [] };
}

/** Until then the planner has no statistics of the words. */
export function analyzeSearchIndex(schemaName: string, table: TableSchema): Statement {
  return { text: `ANALYZE ${qualified(schemaName, table.sqlName)}`, params: [] };
}

function createSql(schemaName: string, table: TableSchema, { name, keys }: TableIndex, create: string): string {
  const fields = keys.map(([key]) => fieldOf(table, key));
  const words = fields.map((field) => searchExpression(quote(schemaName), field, quote(field.column)));
  return `${indexPrefix(schemaName, table, name, create)}USING gin (${words.join(', ')}) ${pendingList}`;
}

/**
 * Sessions that build indexes whose statements begin like this. A coordinator does not show the progress of a build on a node
 * (`pg_stat_progress_create_index`), but it shows the statement.
 */
const BUILDS = `FROM pg_stat_activity AS a JOIN json_array_elements_text($1::json) AS p (prefix) ON starts_with(a.query, p.prefix)
  WHERE a.datname = current_database() AND a.state = 'active'`;

const CONCURRENTLY = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS';

const buildPrefix = (schemaName: string, table: TableSchema): string =>
  indexPrefix(schemaName, table, SEARCH_INDEX, CONCURRENTLY);

/** Returns the beginning of a statement that creates an index, short enough for what the server shows of a statement (1,024 bytes). */
const indexPrefix = (schemaName: string, table: TableSchema, name: string, create: string): string =>
  `${create} ${quote(userIndex(table, name))} ON ${qualified(schemaName, table.sqlName)} `;

/** State of an index that is being built. `left`: invalid, left behind by a build that was interrupted. */
export type BuildState = 'none' | 'under way' | 'left' | 'built';

/** Checks for a running build first, so that one that ends in between is seen as built. @throws unavailable, timeout */
export async function buildState(database: Database, schemaName: string, table: TableSchema): Promise<BuildState> {
  const pending = { text: `SELECT 1 ${BUILDS}`, params: [JSON.stringify([buildPrefix(schemaName, table)])] };
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
  const prefixes = tables.map((table) => buildPrefix(schemaName, table));
  return { text: `SELECT pg_cancel_backend(a.pid) ${BUILDS}`, params: [JSON.stringify(prefixes)] };
}
