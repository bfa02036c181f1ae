import { authorize, type Grant } from '../access/index.ts';
import { fail } from '../errors/fail.ts';
import type { FieldType } from '../schema/model.ts';
import type { FieldRef, OrderKey, PointerStep } from './model/filter.ts';
import { pointerAt, resolveName } from './model/names.ts';
import type { QueryScope } from './where/context.ts';
import { always, guardedFilter } from './where/index.ts';

export const MAX_ORDER_KEYS = 100;

/** Maximum number of Pointers that the names of an order lead through, together: each is a look-up for every record that is sorted. */
export const MAX_ORDER_POINTERS = 20;

const unordered: ReadonlySet<FieldType> = new Set(['Relation', 'ACL']);

/** Parse's storage names of these fields, which its clients send. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ['_created_at', 'createdAt'],
  ['_updated_at', 'updatedAt'],
]);

/**
 * Parses `order`: names, `-` before one for descending, `$score` for the relevance of `$text`. Unknown fields are ignored: all records are
 * alike in them. An order ends in objectId, so that pages are stable. Reference: queries.md#order.
 * @param ranked whether the query has a relevance; `$score` is ignored otherwise
 * @throws invalidFieldName (105); fieldDenied, permissionDenied (119) for what a Pointer leads to; badParameterValue (102)
 */
export function parseOrder(names: readonly string[], grant: Grant, scope: QueryScope, ranked: boolean): OrderKey[] {
  const keys = new Map<string, OrderKey>();
  let pointers = 0;
  for (const item of names) {
    const descending = item.startsWith('-');
    const written = descending ? item.slice(1) : item;
    const name = synonyms.get(written) ?? written;
    if (keys.has(name)) continue;
    if (name === '$score') {
      if (ranked) keys.set(name, { kind: 'score', descending });
      continue;
    }
    const { ref, steps } = resolveThroughPointers(name, grant, scope);
    pointers += steps.length;
    if (pointers > MAX_ORDER_POINTERS)
      fail('badParameterValue', 'order', `leads through more than ${MAX_ORDER_POINTERS} Pointers`);
    if (!ref || unordered.has(ref.field.type)) continue;
    keys.set(name, steps.length > 0 ? { kind: 'pointed', steps, ref, descending } : { kind: 'field', ref, descending });
  }
  if (keys.size > MAX_ORDER_KEYS) fail('badParameterValue', 'order', `more than ${MAX_ORDER_KEYS} keys`);
  const objectId = grant.table.fields.get('objectId');
  if (names.length > 0 && !keys.has('objectId') && objectId)
    keys.set('objectId', { kind: 'field', ref: { field: objectId, path: [] }, descending: false });
  return [...keys.values()];
}

/** Returns the Pointers that a dotted name leads through, and the field behind them; `null` for a name that no record has. */
function resolveThroughPointers(
  name: string,
  grant: Grant,
  scope: QueryScope,
): { readonly steps: readonly PointerStep[]; readonly ref: FieldRef | null } {
  const steps: PointerStep[] = [];
  for (let left = { name, grant }; ; ) {
    const ref = resolveName(left.name, left.grant);
    const through = ref ? null : pointerAt(left.name, left.grant.table);
    const table = through && scope.schema.tables.get(through.pointer.targetClass ?? '');
    if (!through || !table || steps.length > MAX_ORDER_POINTERS) return { steps, ref };
    const target = authorize(scope.principal, 'find', table, scope.schema);
    steps.push({ pointer: through.pointer, table, filter: guardedFilter(target, always) });
    left = { name: through.rest, grant: target };
  }
}
