import type { Grant } from '../../access/index.ts';
import type { Filter } from '../filter.ts';

/** The filter of every record. */
export const always: Filter = { kind: 'always' };
/** The filter of no record. */
export const never: Filter = { kind: 'never' };

/** True where all items are. Flattens, and drops what decides nothing. */
export function allOf(items: readonly Filter[]): Filter {
  return combine('and', items, always, never);
}

/** True where one of the items is. Flattens, and drops what decides nothing. */
export function anyOf(items: readonly Filter[]): Filter {
  return combine('or', items, never, always);
}

/** True exactly where the item is not. */
export function negate(item: Filter): Filter {
  if (item.kind === 'always') return never;
  if (item.kind === 'never') return always;
  return item.kind === 'not' ? item.item : { kind: 'not', item };
}

/** The filter over the records that the caller may see: what every query of a table runs with. */
export function guardedFilter(grant: Grant, filter: Filter): Filter {
  if (grant.rows === null) return filter;
  const { rows: guard, table, masks } = grant;
  return allOf([masks.size > 0 ? { kind: 'guard', guard, table, masks } : { kind: 'guard', guard, table }, filter]);
}

function combine(kind: 'and' | 'or', items: readonly Filter[], neutral: Filter, deciding: Filter): Filter {
  const kept: Filter[] = [];
  for (const item of items) {
    if (item.kind === deciding.kind) return deciding;
    if (item.kind === neutral.kind) continue;
    if (item.kind === kind) for (const inner of item.items) kept.push(inner);
    else kept.push(item);
  }
  if (kept.length === 0) return neutral;
  return kept.length === 1 ? (kept[0] as Filter) : { kind, items: kept };
}
