import type { SchemaChange } from '../../schema/change.ts';

/** Tables that one commit makes: on PostgreSQL each takes some twenty locks, of some thousands that there are. */
const TABLES_PER_COMMIT = 20;

/** The changes that make a schema, in slices of one commit each. */
export function tablesInSlices(changes: readonly SchemaChange[]): SchemaChange[][] {
  const slices: SchemaChange[][] = [[]];
  let made = 0;
  for (const change of changes) {
    if (change.kind === 'createTable' && made++ % TABLES_PER_COMMIT === 0 && made > 1) slices.push([]);
    slices.at(-1)?.push(change);
  }
  return slices;
}
