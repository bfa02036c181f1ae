import { OperatorError } from '../../../kernel/operator-error.ts';
import type { StoreIdentity } from '../../identity.ts';
import { type Level, levelAfter, type Migration, pendingMigrations, storedLevel } from '../../migrations.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import { leaseStatements } from '../cluster/leases.ts';
import type { Database, Row } from '../connection/database.ts';
import { quotedName, registrySchema } from '../sql/names.ts';
import {
  type Catalog,
  catalogFrom,
  catalogStatements,
  constraintStatements,
  copiedStatements,
  formerNamesStatements,
  loadStatement,
} from './catalog.ts';
import { identityStatements, insertIdentity } from './identity.ts';
import { keyStatements } from './key-versions.ts';
import { levelsStatements, levelsTable, reachedSql, saveReached } from './levels.ts';
import { undelivered } from './registry-rows.ts';

/** A migration of the service's own tables inside a PostgreSQL schema. */
export interface PostgresMigration extends Migration {
  statements(schemaName: string): readonly Statement[];
}

const plain = (...texts: string[]): Statement[] => texts.map((text) => ({ text, params: [] }));

/** Migrations of the catalogue of each system. */
export const catalogMigrations: readonly PostgresMigration[] = [
  { number: 1, what: 'tables of the catalogue', statements: catalogStatements },
  { number: 2, what: 'claims of periodic jobs', statements: leaseStatements },
  { number: 3, what: 'who wrote last under a key', statements: keyStatements },
  { number: 4, what: 'tables that logs have values of', statements: copiedStatements },
  { number: 5, what: 'whose store it is', statements: identityStatements },
  { number: 6, what: 'options of fields, unique indexes', statements: constraintStatements },
  { number: 7, what: 'former names of fields', statements: formerNamesStatements },
  { number: 8, what: 'additive migrations', compatibleFrom: 7, statements: levelsStatements },
];

/** Migrations of the registry. */
export const registryMigrations: readonly PostgresMigration[] = [
  { number: 1, what: 'installation, systems, keys', statements: registryStatements },
  { number: 2, what: 'removed systems, moves, last uses of keys', statements: removalStatements },
  { number: 3, what: "what is known of systems' stores", statements: knownStatements },
  { number: 4, what: 'systems that were exchanged or are held', statements: exchangeStatements },
  { number: 5, what: 'systems of other installations, backups by the clock', statements: backupStatements },
  { number: 6, what: 'acts that are not delivered', compatibleFrom: 5, statements: () => [makeUndelivered] },
];

/** Application ids are unique regardless of case, as on SQLite. */
function registryStatements(schemaName: string): Statement[] {
  const schema = quotedName(schemaName);
  const text = 'text COLLATE "C"';
  return plain(
    `CREATE TABLE ${schema}.installation (one integer PRIMARY KEY CHECK (one = 1), salt ${text} NOT NULL)`,
    `CREATE TABLE ${schema}.systems (
      "appId" ${text} PRIMARY KEY, id ${text} NOT NULL UNIQUE, name ${text} NOT NULL, "createdAt" bigint NOT NULL,
      "masterKeyHash" ${text} NOT NULL
    )`,
    `CREATE UNIQUE INDEX systems_folded ON ${schema}.systems (lower("appId"))`,
    `CREATE TABLE ${schema}.keys (
      "appId" ${text} REFERENCES ${schema}.systems ON DELETE CASCADE, name ${text}, hash ${text} NOT NULL, "createdAt" bigint NOT NULL,
      PRIMARY KEY ("appId", name)
    )`,
  );
}

function removalStatements(schemaName: string): Statement[] {
  const schema = quotedName(schemaName);
  return plain(
    `ALTER TABLE ${schema}.installation ADD COLUMN "movedTo" text, ADD COLUMN "movedAt" bigint`,
    `ALTER TABLE ${schema}.systems ADD COLUMN "deleteAfter" bigint`,
    `ALTER TABLE ${schema}.keys ADD COLUMN "lastUsedAt" bigint`,
  );
}

function knownStatements(schemaName: string): Statement[] {
  return plain(
    `ALTER TABLE ${quotedName(schemaName)}.systems ADD COLUMN birth text COLLATE "C", ADD COLUMN generation bigint NOT NULL DEFAULT 0,
      ADD COLUMN "missingSince" bigint, ADD COLUMN "noticedAt" bigint, ADD COLUMN "damagedAt" bigint`,
  );
}

/** The keys of an exchanged system follow its row when that is renamed. */
function exchangeStatements(schemaName: string): Statement[] {
  const schema = quotedName(schemaName);
  const text = 'text COLLATE "C"';
  return plain(
    `ALTER TABLE ${schema}.systems ADD COLUMN place ${text}, ADD COLUMN "formerAppId" ${text}, ADD COLUMN "heldAt" bigint`,
    `CREATE UNIQUE INDEX systems_place ON ${schema}.systems (lower(coalesce(place, "appId")))`,
    `ALTER TABLE ${schema}.keys DROP CONSTRAINT "keys_appId_fkey",
      ADD FOREIGN KEY ("appId") REFERENCES ${schema}.systems ON UPDATE CASCADE ON DELETE CASCADE`,
  );
}

function backupStatements(schemaName: string): Statement[] {
  const schema = quotedName(schemaName);
  return plain(
    `ALTER TABLE ${schema}.systems ADD COLUMN "keySalt" text COLLATE "C"`,
    `ALTER TABLE ${schema}.installation ADD COLUMN "backupDue" bigint, ADD COLUMN "backupProcess" text COLLATE "C", ADD COLUMN "backupIsDone" boolean`,
  );
}

const makeUndelivered: Statement = {
  text: `CREATE TABLE IF NOT EXISTS ${undelivered} (id text COLLATE "C" PRIMARY KEY, "systemId" text COLLATE "C" NOT NULL, act text NOT NULL)`,
  params: [],
};

/**
 * Creates the registry's tables, or migrates them to this version.
 * @throws OperatorError if a later version has migrated them, or the database user lacks permission
 */
export async function migrateRegistry(database: Database): Promise<void> {
  try {
    if (database.isCoordinator) await refuseDistributedRegistry(database);
    if (await isMigrated(database)) return;
    await migrateSchema(database, registrySchema, registryMigrations, 'the registry', { isDistributed: false });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== '42501') throw error;
    const { message } = error as Error;
    throw new OperatorError(
      `DATABASE_URL: ${message}: the user must be let create schemas in the database, and own ${registrySchema}.`,
    );
  }
}

/**
 * Refuses a registry that lies on a node, where earlier versions let the server put it: all systems would depend on that node.
 * @throws OperatorError
 */
async function refuseDistributedRegistry(database: Database): Promise<void> {
  const hasMetadata = { text: `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL`, params: [] };
  if ((await database.short(hasMetadata))[0]?.[0] !== 1) return;
  const distributed = {
    text: 'SELECT 1 FROM pg_dist_partition AS p JOIN pg_class AS c ON c.oid = p.logicalrelid WHERE c.relnamespace = to_regnamespace($1)',
    params: [quotedName(registrySchema)],
  };
  if ((await database.short(distributed)).length === 0) return;
  throw new OperatorError(
    `the schema ${registrySchema} lies on a node of the cluster: SELECT citus_schema_undistribute('${registrySchema}') brings it back to the coordinator`,
  );
}

/**
 * Whether the registry needs no migration. A start then makes nothing, not even "if it does not exist": on a coordinator that would need all nodes.
 * @throws OperatorError if a later version has migrated it
 */
async function isMigrated(database: Database): Promise<boolean> {
  const history = `${quotedName(registrySchema)}.rds_migrations`;
  const [found] = await database.short({ text: 'SELECT to_regclass($1) IS NOT NULL', params: [history] });
  if (found?.[0] !== 1) return false;
  const level = await storedIn(registrySchema, (statement) => database.short(statement));
  return pendingMigrations(registryMigrations, level, 'the registry').length === 0;
}

/**
 * Opens the catalogue of a system: one round trip if no migration is pending.
 * @param mayMake whether a missing one is created
 * @throws OperatorError for one of a later version of the service; the database's error if there is none
 */
export async function openCatalog(database: Database, schemaName: string, mayMake = false): Promise<Catalog> {
  const load = async () => catalogFrom(await database.short(loadStatement(schemaName), schemaName));
  const place = `the schema ${schemaName}`;
  const found = await load().catch((error) => (isMissing(error) ? undefined : Promise.reject(error)));
  if (found && pendingMigrations(catalogMigrations, found.level, place).length === 0) return found;
  await migrateSchema(database, schemaName, catalogMigrations, place, { mayMake });
  return load();
}

/**
 * Creates a system's schema with its catalogue and identity, in one transaction.
 * @throws the database's error if the schema exists
 */
export async function makeCatalog(database: Database, schemaName: string, identity: StoreIdentity): Promise<void> {
  const last = [insertIdentity(schemaName, identity)];
  await migrateSchema(database, schemaName, catalogMigrations, `the schema ${schemaName}`, { mayMake: true, last });
}

/** SQLSTATEs: no such schema (3F000), table (42P01), or column (42703, in a catalogue of an earlier version). */
const missing: ReadonlySet<unknown> = new Set(['3F000', '42P01', '42703']);

function isMissing(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return missing.has(code) || missing.has(cause?.code);
}

/**
 * Applies the pending migrations of one PostgreSQL schema, in one transaction. If several processes do so at the same time, an advisory lock
 * serialises them.
 * @param place name of the schema for error messages
 * @param mayMake whether a missing schema is created
 * @param isDistributed whether a coordinator places the schema on a node of its cluster; the registry stays on the coordinator
 * @param last statements to run after all migrations, in the same transaction
 * @throws OperatorError if a later version has migrated it
 */
export async function migrateSchema(
  database: Database,
  schemaName: string,
  migrations: readonly PostgresMigration[],
  place: string,
  {
    mayMake = true,
    isDistributed = true,
    last = [],
  }: { mayMake?: boolean; isDistributed?: boolean; last?: readonly Statement[] } = {},
): Promise<void> {
  const schema = quotedName(schemaName);
  const history = `${schema}.rds_migrations`;
  await database.transact(
    async (session) => {
      const lock = { text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', params: [`record-service ${schemaName}`] };
      const isThere = { text: 'SELECT to_regnamespace($1) IS NOT NULL', params: [schema] };
      const [, found] = await Promise.all([session.query(lock), session.query(isThere)]);
      // Not "IF NOT EXISTS": a coordinator would distribute an existing schema.
      const isMissing = mayMake && found.rows[0]?.[0] !== 1;
      await Promise.all(
        plain(
          ...(database.isCoordinator ? [`SET LOCAL citus.enable_schema_based_sharding = ${isDistributed ? 'on' : 'off'}`] : []),
          ...(isMissing ? [`CREATE SCHEMA ${schema}`] : []),
          `CREATE TABLE IF NOT EXISTS ${history} (number integer PRIMARY KEY, what text NOT NULL, at timestamptz NOT NULL DEFAULT now())`,
        ).map((statement) => session.query(statement)),
      );
      const before = await storedIn(schemaName, async (statement) => (await session.query(statement)).rows);
      const pending = pendingMigrations(migrations, before, place);
      const statements = [
        ...pending.flatMap((migration) => migration.statements(schemaName)),
        ...recordStatements(schemaName, migrations, before, pending.reduce<Level>(levelAfter, before)),
      ];
      await Promise.all([...statements, ...last].map((statement) => session.query(statement)));
    },
    { timeLimit: 0, location: schemaName },
  );
}

/**
 * Returns the statements that record how far a schema is migrated. The history holds the migrations that a process must know, since versions before
 * levels compare its greatest number with their own.
 */
function recordStatements(schemaName: string, migrations: readonly Migration[], before: Level, after: Level): Statement[] {
  const text = `INSERT INTO ${quotedName(schemaName)}.rds_migrations (number, what) VALUES ($1::integer, $2)`;
  const needed = migrations.filter(({ number }) => number > before.required && number <= after.required);
  const additive = after.reached > Math.max(after.required, before.reached);
  return [
    ...needed.map(({ number, what }) => ({ text, params: [number, what] })),
    ...(additive ? [...levelsStatements(schemaName), saveReached(schemaName, 'engine', after.reached)] : []),
  ];
}

/** Returns how far a schema with a history of migrations is migrated. */
export async function storedIn(schemaName: string, query: (statement: Statement) => Promise<readonly Row[]>): Promise<Level> {
  const history = `${quotedName(schemaName)}.rds_migrations`;
  const text = `SELECT coalesce(max(number), 0), to_regclass($1) IS NOT NULL FROM ${history}`;
  const [row] = await query({ text, params: [levelsTable(schemaName)] });
  const [additive] = row?.[1] === 1 ? await query({ text: reachedSql(schemaName, 'engine'), params: [] }) : [];
  return storedLevel(Number(row?.[0]), additive ? Number(additive[0]) : null);
}
