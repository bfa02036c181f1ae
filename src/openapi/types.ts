import type { RecordContext } from '../records/index.ts';
import { describerOf, selectTables } from './model/read-tables.ts';
import { declarationsOf } from './typescript/declarations.ts';

/**
 * Returns TypeScript declarations of the tables of a system. Reference: openapi.md#typescript-types.
 * @param names left out or empty: all tables
 * @throws masterKeyRequired (403), classMissing (103)
 */
export async function typesOfSystem(context: RecordContext, names?: readonly string[]): Promise<string> {
  const tables = await selectTables(context, names);
  return declarationsOf(tables.selected.map(describerOf(tables)), `the system ${context.appId}`);
}
