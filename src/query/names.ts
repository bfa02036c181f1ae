import type { Grant } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';
import { checkFieldName, type FieldType, forbiddenKeys, rootOf } from '../schema/model.ts';
import type { FieldRef } from './filter.ts';

const nested: ReadonlySet<FieldType> = new Set(['Object', 'Array', 'File', 'PrivateFile']);
const wholeField: readonly string[] = [];

/**
 * What a name of a query stands for. The only place, with `resolveShown`, where query names meet the schema and the caller's hidden fields.
 * @param name a field name, or a dotted place inside an Object, Array or File field
 * @returns `null` for a name that no record has: an unknown field, or a place in a field that has none inside
 * @throws fieldDenied for a hidden field, invalidFieldName (105) for an ill-formed name
 */
export function resolveName(name: string, grant: Grant): FieldRef | null {
  if (grant.hiddenFields.has(rootOf(name))) fail('fieldDenied', name, grant.table.className);
  return find(name, grant);
}

/** The same for a name that is to be shown, not asked about: a hidden field counts where some records show it (`Grant.reveals`). */
export function resolveShown(name: string, grant: Grant): FieldRef | null {
  return grant.reveals.has(rootOf(name)) ? find(name, grant) : resolveName(name, grant);
}

function find(name: string, grant: Grant): FieldRef | null {
  const dot = name.indexOf('.');
  const first = rootOf(name);
  const field = grant.table.fields.get(first);
  if (!field) checkFieldName(first);
  if (dot < 0) return field ? { field, path: wholeField } : null;
  const path = name.slice(dot + 1).split('.');
  if (path.length > limits.jsonDepth || path.some(isBadSegment)) fail('invalidFieldName', name.slice(0, limits.nameLength));
  return field && nested.has(field.type) ? { field, path } : null;
}

const isBadSegment = (segment: string) =>
  segment === '' || segment.length > limits.nameLength || segment.startsWith('$') || forbiddenKeys.has(segment);
