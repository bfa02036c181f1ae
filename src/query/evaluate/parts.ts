import { storageOf } from '../../values/index.ts';
import type { Filter } from '../filter.ts';
import { elementInOrder, hasAll, hasAny, hasOnly } from './arrays.ts';
import { isAllowed } from './guard.ts';
import { inOrder } from './json.ts';
import { mayTakeLong, textMatches } from './pattern.ts';
import type { StoredRecord } from './record.ts';
import { isOneOf, standsTo } from './values.ts';

type Of<K extends Filter['kind']> = Extract<Filter, { kind: K }>;

/**
 * What a record by itself leaves open of a filter: nothing, which is the answer, or a filter of those conditions that only the database
 * can tell.
 */
export function partsLeft(filter: Filter, record: StoredRecord): boolean | Filter {
  switch (filter.kind) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'and':
      return leftOf(filter, true, record);
    case 'or':
      return leftOf(filter, false, record);
    case 'not': {
      const left = partsLeft(filter.item, record);
      if (typeof left === 'boolean') return !left;
      return left === filter.item ? filter : { kind: 'not', item: left };
    }
    case 'guard':
      return isAllowed(filter.guard, filter.table, record);
    case 'exists':
      return record.holds(filter.ref);
    case 'compare':
      return standsTo(record.value(filter.field), filter.op, filter.value);
    case 'in':
      return isOneOf(record.value(filter.field), filter.values);
    case 'jsonCompare':
      return inOrder(record.place(filter.ref), filter.op, filter.operand);
    case 'hasAny':
      return hasAny(record.place(filter.ref), filter.operands);
    case 'hasAll':
      return filter.operands.some((one) => one.kind === 'pattern' && mayTakeLong(one, record.value(filter.ref.field)))
        ? filter
        : hasAll(record.place(filter.ref), filter.operands);
    case 'hasOnly':
      return hasOnly(record.place(filter.ref), filter.operands);
    case 'hasOrdered':
      return elementInOrder(record.place(filter.ref), filter.op, filter.operand);
    case 'regex':
      return mayTakeLong(filter.regex, record.value(filter.ref.field)) ? filter : matches(filter, record);
    case 'text':
    case 'inQuery':
    case 'select':
    case 'relatedTo':
    case 'hasMember':
      return filter;
  }
}

/** @param neutral what an item has to be for the others to decide */
function leftOf(filter: Of<'and' | 'or'>, neutral: boolean, record: StoredRecord): boolean | Filter {
  const open: Filter[] = [];
  for (const item of filter.items) {
    const left = partsLeft(item, record);
    if (left === !neutral) return !neutral;
    if (typeof left !== 'boolean') open.push(left);
  }
  const [first] = open;
  if (first === undefined) return neutral;
  return open.length === 1 ? first : { kind: filter.kind, items: open };
}

function matches({ ref, regex }: Of<'regex'>, record: StoredRecord): boolean {
  return textMatches(storageOf(ref.field) === 'json' ? record.place(ref) : record.value(ref.field), regex);
}
