import { storageOf } from '../../values/index.ts';
import type { FieldRef, Filter, Regex } from '../model/filter.ts';
import { elementInOrder, hasAll, hasAny, hasOnly } from './arrays.ts';
import { asksOthers, isAllowed } from './guard.ts';
import { matchCost, textMatches } from './pattern.ts';
import type { StoredRecord } from './record.ts';
import { inOrder, isOneOf, standsTo } from './values.ts';

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
    default:
      return record.affords(stepsOf(filter, record)) ? conditionHolds(filter, record) : filter;
  }
}

/** Whether a condition holds; the condition itself where only the database can tell. */
function conditionHolds(filter: Filter, record: StoredRecord): boolean | Filter {
  switch (filter.kind) {
    case 'guard':
      return asksOthers(filter.guard) ? filter : isAllowed(filter.guard, filter.table, record);
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
      return hasAll(record.place(filter.ref), filter.operands);
    case 'hasOnly':
      return hasOnly(record.place(filter.ref), filter.operands);
    case 'hasOrdered':
      return elementInOrder(record.place(filter.ref), filter.op, filter.operand);
    case 'regex':
      return matches(filter, record);
    default:
      return filter;
  }
}

/** What a condition takes to be looked at, in steps. Lists are looked up in sets, so it is the record's value that counts. */
function stepsOf(filter: Filter, record: StoredRecord): number {
  switch (filter.kind) {
    case 'exists':
      return 1 + (filter.ref.path.length > 0 ? record.unread(filter.ref.field) : 0);
    case 'compare':
      return 1 + (typeof filter.value === 'string' ? Math.min(filter.value.length, record.lengthOf(filter.field)) : 0);
    case 'jsonCompare':
      return 1 + record.unread(filter.ref.field) + (filter.operand.kind === 'json' ? record.lengthOf(filter.ref.field) : 0);
    case 'hasAny':
    case 'hasOnly':
    case 'hasOrdered':
      return 1 + record.unread(filter.ref.field) + record.lengthOf(filter.ref.field);
    case 'hasAll':
      return filter.operands.reduce(
        (sum, one) => sum + (one.kind === 'pattern' ? matchSteps(one, filter.ref, record) : 0),
        1 + record.unread(filter.ref.field) + record.lengthOf(filter.ref.field),
      );
    case 'regex':
      return 1 + record.unread(filter.ref.field) + matchSteps(filter.regex, filter.ref, record);
    default:
      return 1;
  }
}

function matchSteps(regex: Regex, { field }: FieldRef, record: StoredRecord): number {
  const length = record.lengthOf(field);
  return length === 0 ? 0 : matchCost(regex, length);
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
