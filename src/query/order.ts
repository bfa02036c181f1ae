import type { Grant } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { FieldType } from '../schema/model.ts';
import type { OrderKey } from './model/filter.ts';
import { resolveName } from './model/names.ts';

const maxKeys = 100;

const unordered: ReadonlySet<FieldType> = new Set(['Relation', 'ACL']);

/** Parse's other names for them, which its clients send. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

/**
 * `order`: names, `-` before one for descending, `$score` for the relevance of `$text` (SPEC "Query").
 * Unknown fields are passed over: all records are alike in them. An order ends in objectId, so that pages are stable.
 * @param ranked whether the query has a relevance; `$score` is passed over otherwise
 * @throws invalidFieldName (105), fieldDenied, badParameterValue
 */
export function parseOrder(names: readonly string[], grant: Grant, ranked: boolean): OrderKey[] {
  const keys = new Map<string, OrderKey>();
  for (const item of names) {
    const descending = item.startsWith('-');
    const written = descending ? item.slice(1) : item;
    const name = synonyms.get(written) ?? written;
    if (keys.has(name)) continue;
    if (name === '$score') {
      if (ranked) keys.set(name, { kind: 'score', descending });
      continue;
    }
    const ref = resolveName(name, grant);
    if (ref && !unordered.has(ref.field.type)) keys.set(name, { kind: 'field', ref, descending });
  }
  if (keys.size > maxKeys) fail('badParameterValue', 'order', `more than ${maxKeys} keys`);
  const objectId = grant.table.fields.get('objectId');
  if (names.length > 0 && !keys.has('objectId') && objectId)
    keys.set('objectId', { kind: 'field', ref: { field: objectId, path: [] }, descending: false });
  return [...keys.values()];
}
