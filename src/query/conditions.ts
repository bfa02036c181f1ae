import type { Filter } from './filter.ts';

/** Whether a test holds of some condition of a filter, however deep in `and`, `or` and `not`. A sub-query is one condition. */
export function someCondition(filter: Filter, test: (condition: Filter) => boolean): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.items.some((item) => someCondition(item, test));
    case 'not':
      return someCondition(filter.item, test);
    default:
      return test(filter);
  }
}

/** Whether a condition holds texts against a pattern that is more than plain text: how long that takes depends on both. */
export function hasPattern(condition: Filter): boolean {
  if (condition.kind === 'regex') return condition.regex.literal === undefined;
  return condition.kind === 'hasAll' && condition.operands.some((operand) => operand.kind === 'pattern');
}
