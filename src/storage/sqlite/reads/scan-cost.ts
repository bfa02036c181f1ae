import type { Masks, RowGuard } from '../../../access/index.ts';
import type { Filter } from '../../../query/filter.ts';
import type { Query } from '../../../query/selection.ts';
import { storageOf } from '../../../values/index.ts';

/** What a scan costs, in comparisons of a plain column with a value. */
export interface ScanCost {
  /** For each record that is looked at. */
  perRecord: number;
  /** Once: to compile the conditions, to read lists of values. */
  once: number;
}

const COMPILED = 20;
/** Going through the JSON text of an ACL, or of an Array field, beside what its length costs. */
const ACL = 8;
const ARRAY = 16;
/** Looking another record up by its id and holding it against its own guard; and compiling what does so, for each table (docs/adr/0016). */
const LOOK_UP = 200;
const LOOK_UP_COMPILED = 300;

/**
 * What it takes to go through the records of a query; `null` where that cannot be told from the query: patterns, full text, sub-queries and what
 * stands inside Arrays and Objects cost what the data say.
 */
export function scanCostOf({ filter, fields, shownIn, order }: Query): ScanCost | null {
  const work: ScanCost = { perRecord: 1 + fields.length / 16, once: 0 };
  for (const key of order) {
    if (key.kind === 'score' || key.ref.path.length > 0 || storageOf(key.ref.field) === 'json') return null;
    work.perRecord += 2;
  }
  for (const guard of shownIn?.values() ?? []) if (!addGuard(work, guard)) return null;
  return addCondition(work, filter) ? work : null;
}

/** Whether it can be told. */
function addCondition(work: ScanCost, filter: Filter): boolean {
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
      return addMasks(work, filter.masks) && addGuard(work, filter.guard);
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

/** Whether it can be told. */
function addGuard(work: ScanCost, guard: RowGuard): boolean {
  switch (guard.kind) {
    case 'acl':
      add(work, ACL + guard.identities.length);
      return true;
    case 'record':
      add(work, 1);
      return true;
    case 'oneOf':
      add(work, guard.values.length);
      return true;
    case 'subject':
      add(work, LOOK_UP);
      work.once += LOOK_UP_COMPILED * guard.of.tables.size;
      return true;
    case 'sources':
      // As many look-ups as the row has sources.
      return false;
    case 'all':
    case 'any':
      return guard.guards.every((part) => addGuard(work, part));
    case 'not':
      return addGuard(work, guard.guard);
    case 'userFields':
      add(work, ARRAY * guard.fields.length);
      return true;
  }
}

/** What stands in place of values that are hidden; JSON is read for that. */
function addMasks(work: ScanCost, masks: Masks | undefined): boolean {
  return !masks || masks.values().every((mask) => mask.kind === 'shownIn' && addGuard(work, mask.rows));
}

function add(work: ScanCost, cost: number): void {
  work.perRecord += cost;
  work.once += COMPILED;
}
