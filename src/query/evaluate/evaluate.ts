import type { Field } from '../../schema/model.ts';
import type { StoredValue } from '../../values/index.ts';
import type { Filter } from '../model/filter.ts';
import { partsLeft } from './partial-evaluation.ts';
import { StoredRecord } from './record.ts';

/** Asks the database whether a part of a filter holds of the record as it is now. */
type Ask = (part: Filter) => Promise<boolean>;

/**
 * Whether a record matches a filter, just as the engines answer it (docs/decisions.md "Queries", "Triggers").
 * What other tables have a say in, full text, and patterns that take their time are asked for, one after the other, and only where the
 * rest of the filter leaves it open. Such a part is a condition of the filter itself, never an `and`, `or` or `not`.
 * @param stored the record's stored value of a field, null where absent
 * @param ask a rejection of it rejects the answer
 */
export async function evaluate(filter: Filter, stored: (field: Field) => StoredValue, ask: Ask): Promise<boolean> {
  const left = partsLeft(filter, new StoredRecord(stored));
  return typeof left === 'boolean' ? left : settle(left, ask);
}

/** The same without asking. @returns `null` where a part would have to be asked for */
export function evaluateKnown(filter: Filter, stored: (field: Field) => StoredValue): boolean | null {
  const left = partsLeft(filter, new StoredRecord(stored));
  return typeof left === 'boolean' ? left : null;
}

async function settle(filter: Filter, ask: Ask): Promise<boolean> {
  switch (filter.kind) {
    case 'and':
      for (const item of filter.items) if (!(await settle(item, ask))) return false;
      return true;
    case 'or':
      for (const item of filter.items) if (await settle(item, ask)) return true;
      return false;
    case 'not':
      return !(await settle(filter.item, ask));
    default:
      return ask(filter);
  }
}
