import type { Condition } from '../../query/aggregate/model.ts';
import { type Filter, hasPattern, someCondition } from '../../query/model/filter.ts';

/**
 * Patterns may take their time, which would tell what they were held against. So they are held against records only that the caller may see:
 * databases choose the order in which they look at the terms of a WHERE, but not that of a CASE.
 */
export function takesTime(filter: Filter): boolean {
  return someCondition(filter, hasPattern);
}

/** The same of a `$match` over computed columns. */
export function conditionTakesTime(condition: Condition): boolean {
  switch (condition.kind) {
    case 'regex':
      return true;
    case 'and':
    case 'or':
      return condition.items.some(conditionTakesTime);
    case 'not':
      return conditionTakesTime(condition.item);
    default:
      return false;
  }
}

/** Whether the filter holds the caller's guard, which stands at its top (`guardedFilter`). */
export function isGuarded(filter: Filter): boolean {
  return filter.kind === 'guard' || (filter.kind === 'and' && filter.items.some(({ kind }) => kind === 'guard'));
}
