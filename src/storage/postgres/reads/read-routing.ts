import type { Stage } from '../../../query/aggregate/model.ts';
import { type Filter, someCondition } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { lookUpFieldsOf, uniqueFieldsOf } from '../../../schema/system-tables.ts';

/** Maximum records of an answer that is read as a whole; longer answers are read and sent page by page. */
export const MAX_WHOLE_ROWS = 1_000;
/** Maximum records that a read may touch to use a shared connection. */
const MAX_SHORT_ROWS = 100;

/**
 * Kinds of conditions with constant cost per record. All others may be slow even for one record: patterns, full text, sub-queries, values inside
 * Arrays and Objects.
 */
const cheapKinds: ReadonlySet<Filter['kind']> = new Set(['always', 'never', 'guard', 'exists', 'compare', 'in']);
/** Maximum number of conditions of a short read. */
const MAX_SHORT_CONDITIONS = 100;

/** Returns whether a query is certain to be short, whatever the data: an index leads to the few records that it examines. */
export function isShort({ table, filter, order, skip, limit, stride, count }: Query): boolean {
  if (stride !== undefined) return false;
  const isFirstFew = !count && skip + limit <= MAX_SHORT_ROWS;
  if (filter.kind === 'always') return isFirstFew && order.length === 0;
  if (isFirstFew && filter.kind === 'compare' && filter.op === 'eq' && isInOrder(table, filter.field.name, order)) return true;
  const unique = uniqueFieldsOf(table.className);
  const isPoint = (name: string) => name === 'objectId' || unique.has(name);
  return conjuncts(filter).some((item) => namesRecords(item, isPoint)) && isCheap(filter);
}

/** Whether an index returns the records with one value of a field in the requested order: by creation or by id. */
function isInOrder({ className, indexes }: TableSchema, name: string, order: Query['order']): boolean {
  const [key, ...others] = order;
  if (!key) return lookUpFieldsOf(className).has(name);
  const isById = others.length === 0 && key.kind === 'field' && key.ref.field.name === 'objectId' && !key.descending;
  return isById && indexes.values().some(({ keys }) => keys.length === 1 && keys[0]?.[0] === name);
}

function conjuncts(filter: Filter): readonly Filter[] {
  return filter.kind === 'and' ? filter.items : [filter];
}

function namesRecords(item: Filter, isPoint: (name: string) => boolean): boolean {
  if (item.kind === 'compare') return item.op === 'eq' && isPoint(item.field.name);
  return item.kind === 'in' && item.values.length <= MAX_SHORT_ROWS && isPoint(item.field.name);
}

function isCheap(filter: Filter): boolean {
  let remaining = MAX_SHORT_CONDITIONS;
  return !someCondition(filter, (condition) => --remaining < 0 || !cheapKinds.has(condition.kind) || isInside(condition));
}

/** Whether a condition examines the inside of a value. */
const isInside = (condition: Filter): boolean => condition.kind === 'exists' && condition.ref.path.length > 0;

/** Returns whether an aggregation is certain to have few result rows. */
export function hasFewRows(stages: readonly Stage[]): boolean {
  const last = stages.findLast(({ kind }) => kind === 'limit' || kind === 'group' || kind === 'unwind');
  if (last?.kind === 'limit') return last.count <= MAX_WHOLE_ROWS;
  return last?.kind === 'group' && last.keys.length === 0;
}
