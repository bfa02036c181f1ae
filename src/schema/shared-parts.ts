import { LRUCache } from 'lru-cache';
import type { TableSchema } from './model.ts';

/** Maximum number of different parts that are remembered: about ten times those of the template. */
const MAX_PARTS = 4_000;

const parts = new LRUCache<string, object>({ max: MAX_PARTS });

/**
 * Returns a table that shares its parts with equal tables of other systems: nearly all are the template's, so a system that is open holds 20 KB of
 * schema instead of 450. The table itself stays an object of its own system, because caches are keyed by it.
 */
export function withSharedParts(table: TableSchema): TableSchema {
  const { fields, permissions, indexes, uniqueIndexes, textIndex, timeline, formerNames, loggedNames } = table;
  return {
    ...table,
    fields: shared('fields', fields, [...fields.values()]),
    permissions: shared('permissions', permissions),
    indexes: shared('indexes', indexes, [...indexes.values()]),
    uniqueIndexes: shared('uniqueIndexes', uniqueIndexes, [...uniqueIndexes.values()]),
    textIndex: shared('textIndex', textIndex),
    formerNames: shared('formerNames', formerNames, [...formerNames]),
    loggedNames: shared('loggedNames', loggedNames, [...loggedNames]),
    ...(timeline && { timeline: shared('timeline', timeline) }),
  };
}

/** @param content of a Map, whose keys are names in it */
function shared<T extends object>(kind: string, part: T, content: object = part): T {
  const key = kind + JSON.stringify(content);
  const known = parts.get(key);
  if (known) return known as T;
  parts.set(key, part);
  return part;
}
