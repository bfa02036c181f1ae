import type { Field } from '../../schema/model.ts';
import type { StoredValue } from '../../values/index.ts';
import type { Filter } from '../model/filter.ts';
import { remainingParts } from './partial-evaluation.ts';
import { StoredRecord } from './record.ts';

/** Checks in the database whether a part of a filter holds for the record now. */
type Ask = (part: Filter) => Promise<boolean>;

/**
 * Returns whether a record matches a filter, with the same result as the engines. Conditions that depend on other tables, full text, and slow
 * patterns are asked of the database, one after another, and only if the rest of the filter does not decide. Such a part is always a
 * single condition of the filter, never an `and`, `or` or `not`.
 * @param stored the record's stored value of a field, null if absent
 * @param ask a rejection of it rejects the result
 */
export async function evaluate(filter: Filter, stored: (field: Field) => StoredValue, ask: Ask): Promise<boolean> {
  const left = remainingParts(filter, new StoredRecord(stored));
  return typeof left === 'boolean' ? left : askParts(left, ask);
}

/** Evaluates without the database. @returns `null` if a part would need it */
export function evaluateKnown(filter: Filter, stored: (field: Field) => StoredValue): boolean | null {
  const left = remainingParts(filter, new StoredRecord(stored));
  return typeof left === 'boolean' ? left : null;
}

async function askParts(filter: Filter, ask: Ask): Promise<boolean> {
  switch (filter.kind) {
    case 'and':
      for (const item of filter.items) if (!(await askParts(item, ask))) return false;
      return true;
    case 'or':
      for (const item of filter.items) if (await askParts(item, ask)) return true;
      return false;
    case 'not':
      return !(await askParts(filter.item, ask));
    default:
      return ask(filter);
  }
}
