import type { JsonObject } from '../../../kernel/json.ts';
import { definitionFields } from '../../../records/index.ts';
import type { Row } from '../reading/records.ts';

/** The parts of a definition, as schema reads show them (SPEC "Schema record": triggers). */
export const definitionKeys = definitionFields.filter((name) => name !== 'objectId');

/** A row of `_Trigger` as schema reads show it. */
export function definitionOf(row: Row): JsonObject {
  const parts = definitionKeys.filter((name) => Object.hasOwn(row, name)).map((name) => [name, row[name] ?? null] as const);
  return { _id: row.objectId, ...Object.fromEntries(parts) };
}
