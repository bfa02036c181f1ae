import type { Database } from '../connection/database.ts';
import { arrayLiteral } from '../sql/arrays.ts';
import { schemaName } from '../sql/names.ts';

/** Stores whose sizes one statement reads: PostgreSQL looks at every file of their tables. */
const BATCH_SIZE = 25;

/**
 * Returns the bytes of stores with their indexes. A connection that ends afterwards does it, since a session keeps what it knows of each table. A batch
 * that fails, for example because a table is locked, is left out. On a cluster it is what lies on the coordinator.
 * @throws unavailable
 */
export function readSizes(database: Database, places: readonly string[]): Promise<Map<string, number>> {
  const text = `SELECT n.nspname, sum(pg_total_relation_size(c.oid))::float8 FROM pg_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.oid
    WHERE n.nspname = ANY($1::text[]) AND c.relkind IN ('r', 'm') GROUP BY n.nspname`;
  const placeOf = new Map(places.map((place) => [schemaName(place), place]));
  return database.dedicated(async (session) => {
    const sizes = new Map<string, number>();
    for (let at = 0; at < places.length; at += BATCH_SIZE) {
      const names = places.slice(at, at + BATCH_SIZE).map(schemaName);
      const { rows } = await session.query({ text, params: [arrayLiteral(names)] }).catch(() => ({ rows: [] }));
      for (const [name, bytes] of rows as (readonly [string, number])[]) {
        const place = placeOf.get(name);
        if (place !== undefined) sizes.set(place, bytes);
      }
    }
    return sizes;
  });
}
