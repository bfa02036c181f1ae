import type { SchemaChange } from '../../schema/change.ts';

/** Tables created per commit. On PostgreSQL each takes about 20 locks, of some thousands available. */
const TABLES_PER_COMMIT = 20;

/** Splits the changes of a schema into batches of one commit each. */
export function schemaBatches(changes: readonly SchemaChange[]): SchemaChange[][] {
  const batches: SchemaChange[][] = [[]];
  let made = 0;
  for (const change of changes) {
    if (change.kind === 'createTable' && made++ % TABLES_PER_COMMIT === 0 && made > 1) batches.push([]);
    batches.at(-1)?.push(change);
  }
  return batches;
}
