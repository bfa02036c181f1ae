import type { RowGuard } from '../../../access/index.ts';
import type { Filter } from '../../../query/filter.ts';
import type { Query } from '../../../query/selection.ts';
import { storageOf } from '../../../values/index.ts';

/** What a scan costs, in comparisons of a plain column with a value. */
export interface Work {
  /** For each record that is looked at. */
  perRecord: number;
  /** Once: to compile the conditions, to read lists of values. */
  once: number;
}

const COMPILED = 20;
/** Going through the JSON text of an ACL, or of an Array field, beside what its length costs. */
const ACL = 8;
const ARRAY = 16;

/**
 * What it takes to go through the records of a query; `null` where that cannot be told from the query: patterns, full text, sub-queries and what
 * stands inside Arrays and Objects cost what the data say.
 */
export function workOf({ filter, fields, shownIn, order }: Query): Work | null {
  const work: Work = { perRecord: 1 + fields.length / 16, once: 0 };
  for (const key of order) {
    if (key.kind === 'score' || key.ref.path.length > 0 || storageOf(key.ref.field) === 'json') return null;
    work.perRecord += 2;
  }
  for (const guard of shownIn?.values() ?? []) addGuard(work, guard);
  return addCondition(work, filter) ? work : null;
}

/** Whether it can be told. */
function addCondition(work: Work, filter: Filter): boolean {
  switch (filter.kind) {
    case 'always':
    case 'never':
      return true;
    case 'and':
    case 'or':
      return filter.items.every((item) => addCondition(work, item));
    case 'not':
      return addCondition(work, filter.item);
    case 'guard':
      addGuard(work, filter.guard);
      return true;
    case 'compare':
      add(work, 1);
      return true;
    case 'in':
      add(work, 2);
      work.once += filter.values.length;
      return true;
    case 'exists':
      add(work, 1);
      return filter.ref.path.length === 0;
    default:
      return false;
  }
}

function addGuard(work: Work, guard: RowGuard): void {
  switch (guard.kind) {
    case 'acl':
      add(work, ACL + guard.identities.length);
      break;
    case 'record':
      add(work, 1);
      break;
    case 'all':
    case 'any':
      for (const part of guard.guards) addGuard(work, part);
      break;
    case 'not':
      addGuard(work, guard.guard);
      break;
    case 'userFields':
      add(work, ARRAY * guard.fields.length);
      break;
  }
}

function add(work: Work, cost: number): void {
  work.perRecord += cost;
  work.once += COMPILED;
}
