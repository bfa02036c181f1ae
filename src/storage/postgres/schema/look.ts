import { type Level, pendingMigrations, storedLevel } from '../../migrations.ts';
import { connectDatabase } from '../connection/connect-database.ts';
import type { Database } from '../connection/database.ts';
import { quotedName, registrySchema, schemaName } from '../sql/names.ts';
import { storedSchemas } from './identity.ts';
import { levelsTable, reachedSql } from './levels.ts';
import { catalogMigrations, registryMigrations, storedIn } from './migrations.ts';

/** What a database is found to be, without changing it. */
export interface DatabaseFacts {
  readonly version: string;
  readonly encoding: string;
  readonly mayCreateSchemas: boolean;
  /** Number of pending migrations of the registry; null: there is no registry yet. */
  readonly pending: number | null;
  /** Whether there are schemas of systems. */
  readonly hasSystems: boolean;
}

/**
 * Looks at a database without changing it.
 * @throws OperatorError if it cannot be used, or a later version of the service has changed it
 */
export async function lookAtDatabase(url: string, timeLimit: number): Promise<DatabaseFacts> {
  const database = await connectDatabase(url, { timeLimit, connections: 1 });
  try {
    const text = `SELECT current_setting('server_version'), current_setting('server_encoding'),
      has_database_privilege(current_database(), 'CREATE'), to_regclass($1) IS NOT NULL`;
    const params = [`${quotedName(registrySchema)}.rds_migrations`];
    const [row = []] = await database.short({ text, params });
    const [version, encoding, mayCreate, hasRegistry] = row;
    const level = hasRegistry === 1 ? await storedIn(registrySchema, (statement) => database.short(statement)) : null;
    const pending = level && pendingMigrations(registryMigrations, level, 'the registry').length;
    const hasSystems = (await storedSchemas(database)).length > 0;
    return {
      hasSystems,
      version: String(version).split(' ', 1)[0] ?? '',
      encoding: String(encoding),
      mayCreateSchemas: mayCreate === 1,
      pending,
    };
  } finally {
    await database.close();
  }
}

/** Returns how far a system's store is migrated, without changing it. @throws OperatorError if a later version has changed it */
export async function levelsOf(database: Database, place: string): Promise<{ pending: number; system: Level }> {
  const schema = schemaName(place);
  const query = (text: string, params: string[] = []) => database.short({ text, params }, schema);
  const engine = await storedIn(schema, (statement) => database.short(statement, schema));
  const pending = pendingMigrations(catalogMigrations, engine, `the schema ${schema}`).length;
  const [template] = await query(`SELECT "templateVersion", to_regclass($1) IS NOT NULL FROM ${quotedName(schema)}.rds_catalog`, [
    levelsTable(schema),
  ]);
  const [additive] = template?.[1] === 1 ? await query(reachedSql(schema, 'system')) : [];
  return { pending, system: storedLevel(Number(template?.[0]), additive ? Number(additive[0]) : null) };
}
