import type { Stage } from '../../../query/aggregate/model.ts';
import { type Filter, type OrderKey, someCondition } from '../../../query/model/filter.ts';
import type { Query } from '../../../query/model/selection.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { lookUpFieldsOf, uniqueFieldsOf } from '../../../schema/system-tables.ts';
import { storageOf } from '../../../values/index.ts';

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

/** Returns whether the first few of a query's records can be counted on a shared connection: an index holds exactly those that match. */
export function isCountedInIndex({ table, filter }: Query): boolean {
  if (filter.kind !== 'compare' || filter.op !== 'eq') return false;
  return table.indexes.values().some(({ keys }) => keys[0]?.[0] === filter.field.name);
}

/** Returns whether a query is certain to be short, whatever the data: an index leads to the few records that it examines. */
export function isShort({ table, filter, order, skip, limit, stride, count }: Query): boolean {
  if (stride !== undefined) return false;
  const isFirstFew = !count && skip + limit <= MAX_SHORT_ROWS;
  if (filter.kind === 'always' && order.length === 0) return isFirstFew;
  if (isFirstFew && isInOrder(table, filter, order)) return true;
  const unique = uniqueFieldsOf(table.className);
  const isPoint = (name: string) => name === 'objectId' || unique.has(name);
  return conjuncts(filter).some((item) => namesRecords(item, isPoint)) && isCheap(filter);
}

/** Whether an index returns the records that match in the requested order, which ends in the id, or is that of creation. */
function isInOrder({ className, indexes }: TableSchema, filter: Filter, order: Query['order']): boolean {
  if (filter.kind !== 'always' && filter.kind !== 'compare') return false;
  const compared = filter.kind === 'compare' ? filter.field.name : undefined;
  const isValue = filter.kind === 'compare' && filter.op === 'eq';
  if (order.length === 0) return isValue && lookUpFieldsOf(className).has(filter.field.name);
  const [key, ...others] = order.map(columnOf);
  const indexed = indexes.values().flatMap(({ keys }) => (keys.length === 1 ? keys : []));
  if (isAscendingId(key)) return isValue && others.length === 0 && indexed.some(([name]) => name === compared);
  if (!key || others.length !== 1 || !isAscendingId(others[0])) return false;
  // The compared field is the one of the order, so that the index has a range of it.
  return (
    (compared ?? key.name) === key.name && indexed.some(([name, direction]) => name === key.name && direction === key.direction)
  );
}

/** Returns the column and the direction of a key that an index of the field may have; `undefined` for all others. */
function columnOf(key: OrderKey): { readonly name: string; readonly direction: 1 | -1 } | undefined {
  if (key.kind !== 'field' || storageOf(key.ref.field) === 'json') return undefined;
  return { name: key.ref.field.name, direction: key.descending ? -1 : 1 };
}

const isAscendingId = (key: ReturnType<typeof columnOf>): boolean => key?.name === 'objectId' && key.direction === 1;

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
