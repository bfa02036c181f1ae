import type { Condition } from '../../query/aggregate/model.ts';
import { type Filter, hasPattern, someCondition } from '../../query/model/filter.ts';

/**
 * Returns whether a filter must be evaluated after the caller's guard. Pattern matching takes time that depends on the text, so it would leak hidden
 * values. Databases may reorder the terms of a WHERE, but not those of a CASE.
 */
export function needsGuardFirst(filter: Filter): boolean {
  return someCondition(filter, hasPattern);
}

/** Returns the same for a `$match` over computed columns. */
export function conditionNeedsGuardFirst(condition: Condition): boolean {
  switch (condition.kind) {
    case 'regex':
      return true;
    case 'and':
    case 'or':
      return condition.items.some(conditionNeedsGuardFirst);
    case 'not':
      return conditionNeedsGuardFirst(condition.item);
    default:
      return false;
  }
}

/** Returns whether the filter has the caller's guard, which stands at its top (`guardedFilter`). */
export function isGuarded(filter: Filter): boolean {
  return filter.kind === 'guard' || (filter.kind === 'and' && filter.items.some(({ kind }) => kind === 'guard'));
}
