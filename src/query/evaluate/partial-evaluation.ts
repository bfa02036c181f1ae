import { storageOf } from '../../values/index.ts';
import type { FieldRef, Filter, Regex } from '../model/filter.ts';
import { elementInOrder, hasAll, hasAny, hasOnly } from './arrays.ts';
import { dependsOnOtherRecords, isAllowed } from './guard.ts';
import { matchCost, textMatches } from './pattern.ts';
import type { StoredRecord } from './record.ts';
import { compares, inOrder, isOneOf } from './values.ts';

type Of<K extends Filter['kind']> = Extract<Filter, { kind: K }>;

/**
 * Evaluates as much of a filter as the record alone decides. Returns the result, or a filter of the conditions that only the database can
 * decide.
 */
export function remainingParts(filter: Filter, record: StoredRecord): boolean | Filter {
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
      const left = remainingParts(filter.item, record);
      if (typeof left === 'boolean') return !left;
      return left === filter.item ? filter : { kind: 'not', item: left };
    }
    default:
      return record.trySpend(stepsOf(filter, record)) ? conditionHolds(filter, record) : filter;
  }
}

/** Returns whether a condition holds; the condition itself if only the database can decide. */
function conditionHolds(filter: Filter, record: StoredRecord): boolean | Filter {
  switch (filter.kind) {
    case 'guard':
      return dependsOnOtherRecords(filter.guard) ? filter : isAllowed(filter.guard, filter.table, record);
    case 'exists':
      return record.holds(filter.ref);
    case 'compare':
      return compares(record.value(filter.field), filter.op, filter.value);
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

/** Returns the cost of evaluating a condition, in steps. Lists are looked up in sets, so only the record's value counts. */
function stepsOf(filter: Filter, record: StoredRecord): number {
  switch (filter.kind) {
    case 'exists':
      return 1 + (filter.ref.path.length > 0 ? record.parseSteps(filter.ref.field) : 0);
    case 'compare':
      return 1 + (typeof filter.value === 'string' ? Math.min(filter.value.length, record.lengthOf(filter.field)) : 0);
    case 'jsonCompare':
      return 1 + record.parseSteps(filter.ref.field) + (filter.operand.kind === 'json' ? record.lengthOf(filter.ref.field) : 0);
    case 'hasAny':
    case 'hasOnly':
    case 'hasOrdered':
      return 1 + record.parseSteps(filter.ref.field) + record.lengthOf(filter.ref.field);
    case 'hasAll':
      return filter.operands.reduce(
        (sum, one) => sum + (one.kind === 'pattern' ? matchSteps(one, filter.ref, record) : 0),
        1 + record.parseSteps(filter.ref.field) + record.lengthOf(filter.ref.field),
      );
    case 'regex':
      return 1 + record.parseSteps(filter.ref.field) + matchSteps(filter.regex, filter.ref, record);
    default:
      return 1;
  }
}

function matchSteps(regex: Regex, { field }: FieldRef, record: StoredRecord): number {
  const length = record.lengthOf(field);
  return length === 0 ? 0 : matchCost(regex, length);
}

/** @param neutral the value of an item that leaves the decision to the others */
function leftOf(filter: Of<'and' | 'or'>, neutral: boolean, record: StoredRecord): boolean | Filter {
  const open: Filter[] = [];
  for (const item of filter.items) {
    const left = remainingParts(item, record);
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
