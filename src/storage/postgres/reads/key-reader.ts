import type { ReadsByKey } from '../../by-key.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { compileByKey, keyedRecords, requireUniqueIndex } from '../../sql/unique-key.ts';
import type { Database } from '../connection/database.ts';
import type { SchemaCache } from '../schema/schema-cache.ts';

/** The system whose records are found. */
interface KeyReaderSettings {
  readonly database: Pick<Database, 'short'>;
  readonly dialect: Dialect;
  readonly schemaName: string;
  readonly schemaCache: Pick<SchemaCache, 'schema' | 'changes'>;
}

/**
 * Returns `Reader.findByKey` of a system.
 * @param mapError maps an error of a statement that was planned under a version of the schema
 */
export function keyReader(
  { database, dialect, schemaName, schemaCache }: KeyReaderSettings,
  mapError: (error: unknown, plannedUnder: number) => Promise<unknown>,
): ReadsByKey['findByKey'] {
  return async (table, index, keys) => {
    if (keys.length === 0) return [];
    const plannedUnder = schemaCache.changes;
    try {
      requireUniqueIndex(schemaCache.schema, table, index);
      return keyedRecords(await database.short(compileByKey(table, index, keys, dialect), schemaName), keys.length);
    } catch (error) {
      throw await mapError(error, plannedUnder);
    }
  };
}
