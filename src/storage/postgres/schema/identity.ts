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
import type { Statement } from '../../sql/writer.ts';
import type { Database, Row } from '../connection/database.ts';
import { placeNamed, quotedName, registrySchema, schemaName, systemPrefix } from '../sql/names.ts';

const tableOf = (schema: string) => `${quotedName(schema)}.rds_store`;

/** The table of one row that says whose store a schema is. */
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

/** Says whose store it is, in the place of what was said before. */
export function insertIdentity(schema: string, identity: StoreIdentity): Statement {
  return firstIdentity(
    schema,
    identity,
    `UPDATE SET "systemId" = excluded."systemId", "appId" = excluded."appId", birth = excluded.birth, generation = excluded.generation,
      making = excluded.making`,
  );
}

/** The same where nothing was said before. */
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

/** What an operator calls a schema. */
export const placeOf = (schema: string): string => `the schema ${schema}`;

/** What is in the schema of a system. */
export async function inspectSchema(database: Database, schema: string): Promise<Found> {
  const place = placeOf(schema);
  const there = `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL, to_regclass($3) IS NOT NULL`;
  const params = [quotedName(schema), `${quotedName(schema)}.rds_catalog`, tableOf(schema)];
  const [row] = await database.short({ text: there, params });
  if (row?.[0] !== 1) return { place, state: 'missing', identity: null };
  const read = async (text: string) => (await database.short({ text, params: [] }))[0];
  const identity = row[2] === 1 ? identityFrom(await read(`SELECT ${columns} FROM ${tableOf(schema)}`)) : null;
  const isWhole = row[1] === 1 && (await read(`SELECT 1 FROM ${quotedName(schema)}.rds_catalog`)) !== undefined;
  return { place, state: isWhole ? 'store' : 'empty', identity };
}

/**
 * Makes sure, in one transaction, that a store is the one that the registry knows, and notes what it is opened for.
 * @throws StoreRefused where it is another one
 */
export async function takeIdentity(database: Database, known: KnownStore, purpose: Purpose): Promise<StoreIdentity> {
  const schema = schemaName(known.place);
  const first = { systemId: known.systemId, appId: known.appId, birth: newBirth(), generation: 0, making: null };
  return database.transact(
    async (session) => {
      // Other processes that open it wait for the row.
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
    { timeLimit: 0 },
  );
}

/** Has the generation of a store grow. */
function growStatement(schema: string): Statement {
  return { text: `UPDATE ${tableOf(schema)} SET generation = generation + 1 RETURNING generation`, params: [] };
}

/** The schemas in which systems are, or were. */
export async function storedSchemas(database: Database): Promise<StoredPlace[]> {
  const text = `SELECT n.nspname FROM pg_namespace AS n WHERE starts_with(n.nspname, $1) AND n.nspname <> $2 AND EXISTS (
    SELECT 1 FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname IN ('rds_catalog', 'rds_store', 'rds_migrations')) ORDER BY 1`;
  const rows = await database.short({ text, params: [systemPrefix, registrySchema] });
  const found: StoredPlace[] = [];
  for (const [name] of rows) found.push({ name: await placeIn(database, String(name)), place: placeOf(String(name)) });
  return found;
}

/** The name of the place whose schema it is; `null` where nothing tells it. */
async function placeIn(database: Database, schema: string): Promise<string | null> {
  const name = placeNamed(schema);
  if (name !== null) return name;
  // Long application ids are places of their own.
  const { identity } = await inspectSchema(database, schema);
  return identity && schemaName(identity.appId) === schema ? identity.appId : null;
}

/**
 * A registry that is gone is not made anew beside what it knew.
 * @param mayMake whether it may be made beside systems' schemas
 * @throws OperatorError where it is missing, or has no tables, and something says that there was one
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

/** Milliseconds that a store which is closed takes at the most to note that. */
const MAX_NOTE_MS = 1_000;

/** Notes that a store which was served is closed. What cannot be noted in time is not: the registry knows an earlier generation, which says nothing wrong. */
export async function noteGeneration(database: Database, schemaName: string, grown: GenerationGrown | undefined): Promise<void> {
  if (!grown) return;
  const grow = async () => {
    const [result] = await database.atomically([growStatement(schemaName)]);
    const generation = result?.rows[0]?.[0];
    if (generation !== undefined) await grown(Number(generation));
  };
  await Promise.race([grow().catch(() => {}), wait(MAX_NOTE_MS, undefined, { ref: false })]);
}
