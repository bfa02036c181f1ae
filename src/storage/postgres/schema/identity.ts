import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { GenerationGrown, Purpose } from '../../engine.ts';
import {
  checkFound,
  type Found,
  type KnownStore,
  lostText,
  newBirth,
  type StoredPlace,
  type StoreIdentity,
  StoreRefused,
} from '../../identity.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Database, Row } from '../connection/database.ts';
import { placeNamed, quotedName, registrySchema, schemaName, systemPrefix } from '../sql/names.ts';

const tableOf = (schema: string) => `${quotedName(schema)}.rds_store`;

/** Returns the statements that create the table of one row with the identity of a store. */
export function identityStatements(schema: string): Statement[] {
  const text = 'text COLLATE "C"';
  return [
    {
      text: `CREATE TABLE ${tableOf(schema)} (
        one integer PRIMARY KEY CHECK (one = 1), "systemId" ${text} NOT NULL, "appId" ${text} NOT NULL, birth ${text} NOT NULL,
        generation bigint NOT NULL, making ${text}
      )`,
      params: [],
    },
  ];
}

const columns = '"systemId", "appId", birth, generation, making';

/** Writes the identity of a store, replacing an earlier one. */
export function insertIdentity(schema: string, identity: StoreIdentity): Statement {
  return firstIdentity(
    schema,
    identity,
    `UPDATE SET "systemId" = excluded."systemId", "appId" = excluded."appId", birth = excluded.birth, generation = excluded.generation,
      making = excluded.making`,
  );
}

/** Writes the identity of a store unless it has one. */
function firstIdentity(schema: string, identity: StoreIdentity, otherwise = 'NOTHING'): Statement {
  const { systemId, appId, birth, generation, making } = identity;
  const values = '1, $1, $2, $3, $4::bigint, $5';
  const text = `INSERT INTO ${tableOf(schema)} (one, ${columns}) VALUES (${values}) ON CONFLICT (one) DO ${otherwise}`;
  return { text, params: [systemId, appId, birth, generation, making] };
}

function identityFrom(row: Row | undefined): StoreIdentity | null {
  if (!row) return null;
  const [systemId, appId, birth, generation, making] = row;
  return { systemId, appId, birth, generation, making } as StoreIdentity;
}

/** Returns the name of a schema for messages to an operator. */
export const placeOf = (schema: string): string => `the schema ${schema}`;

/** Returns what is in the PostgreSQL schema of a system. */
export async function inspectSchema(database: Database, schema: string): Promise<Found> {
  const place = placeOf(schema);
  const there = `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL, to_regclass($3) IS NOT NULL`;
  const params = [quotedName(schema), `${quotedName(schema)}.rds_catalog`, tableOf(schema)];
  const [row] = await database.short({ text: there, params }, schema);
  if (row?.[0] !== 1) return { place, state: 'missing', identity: null };
  const read = async (text: string) => (await database.short({ text, params: [] }, schema))[0];
  const identity = row[2] === 1 ? identityFrom(await read(`SELECT ${columns} FROM ${tableOf(schema)}`)) : null;
  const isWhole = row[1] === 1 && (await read(`SELECT 1 FROM ${quotedName(schema)}.rds_catalog`)) !== undefined;
  return { place, state: isWhole ? 'store' : 'empty', identity };
}

/**
 * Checks, in one transaction, that a store is the one that the registry knows, and updates its identity for the purpose for which it is opened.
 * @throws StoreRefused if it is another one
 */
export async function takeIdentity(database: Database, known: KnownStore, purpose: Purpose): Promise<StoreIdentity> {
  const schema = schemaName(known.place);
  const first = { systemId: known.systemId, appId: known.appId, birth: newBirth(), generation: 0, making: null };
  return database.transact(
    async (session) => {
      // Other processes that open it at the same time wait for the row.
      if (known.birth === null) await session.query(firstIdentity(schema, first));
      const read = { text: `SELECT ${columns} FROM ${tableOf(schema)} FOR UPDATE`, params: [] };
      const identity = identityFrom((await session.query(read)).rows[0]);
      checkFound({ state: 'store', place: placeOf(schema), identity }, known);
      if (!identity) throw new StoreRefused('older', placeOf(schema));
      const making = purpose === 'making' ? identity.making : null;
      const now = { ...identity, generation: identity.generation + (purpose === 'serving' ? 1 : 0), making };
      if (JSON.stringify(now) !== JSON.stringify(identity)) await session.query(insertIdentity(schema, now));
      return now;
    },
    { timeLimit: 0, location: schema },
  );
}

/** Increments the generation of a store. */
function growStatement(schema: string): Statement {
  return { text: `UPDATE ${tableOf(schema)} SET generation = generation + 1 RETURNING generation`, params: [] };
}

/** Returns the schemas that contain a system, or remains of one. */
export async function storedSchemas(database: Database): Promise<StoredPlace[]> {
  const text = `SELECT n.nspname FROM pg_namespace AS n WHERE starts_with(n.nspname, $1) AND n.nspname <> $2 AND EXISTS (
    SELECT 1 FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname IN ('rds_catalog', 'rds_store', 'rds_migrations')) ORDER BY 1`;
  const rows = await database.short({ text, params: [systemPrefix, registrySchema] });
  const found: StoredPlace[] = [];
  for (const [name] of rows) found.push({ name: await placeIn(database, String(name)), place: placeOf(String(name)) });
  return found;
}

/** Returns the place name for a schema; `null` if it cannot be determined. */
async function placeIn(database: Database, schema: string): Promise<string | null> {
  const name = placeNamed(schema);
  if (name !== null) return name;
  // The schema names of long application ids are hashed: compare with the stored id.
  const { identity } = await inspectSchema(database, schema);
  return identity && schemaName(identity.appId) === schema ? identity.appId : null;
}

/**
 * Refuses to create a registry if systems, or remains of a registry, show that one was lost.
 * @param mayMake whether it may be created beside systems' schemas
 * @throws OperatorError if it is missing or empty although there are systems, or has lost tables
 */
export async function refuseLost(database: Database, mayMake: boolean): Promise<void> {
  const tables = ['systems', 'installation', 'rds_migrations'].map((name) => `${registrySchema}.${name}`);
  const there =
    'SELECT to_regclass($1) IS NOT NULL, to_regclass($2) IS NOT NULL, to_regclass($3) IS NOT NULL, to_regnamespace($4) IS NULL';
  const [row = []] = await database.short({ text: there, params: [...tables, registrySchema] });
  const [hasSystems, hasInstallation, hasHistory, isMissing] = row.map((value) => value === 1);
  const place = placeOf(registrySchema);
  if (hasSystems && hasInstallation) return;
  if (hasSystems || hasInstallation || hasHistory)
    throw new OperatorError(`DATABASE_URL: ${place} has lost tables: put them back`);
  const places = mayMake ? [] : await storedSchemas(database);
  if (places.length > 0)
    throw new OperatorError(`DATABASE_URL: ${lostText(`${place} is ${isMissing ? 'missing' : 'empty'}`, places)}`);
}

/** Maximum time to record the generation when a store closes, in milliseconds. */
const MAX_RECORD_MS = 1_000;

/**
 * Records that a served store is closed, by a new generation. If that fails or takes too long, it is skipped: the registry then knows an earlier
 * generation, which is harmless.
 */
export async function recordGeneration(
  database: Database,
  schemaName: string,
  grown: GenerationGrown | undefined,
): Promise<void> {
  if (!grown) return;
  const grow = async () => {
    const [result] = await database.atomically([growStatement(schemaName)], schemaName);
    const generation = result?.rows[0]?.[0];
    if (generation !== undefined) await grown(Number(generation));
  };
  await Promise.race([grow().catch(() => {}), wait(MAX_RECORD_MS, undefined, { ref: false })]);
}
