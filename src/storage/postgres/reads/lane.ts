import type { Stage } from '../../../query/aggregate/model.ts';
import { hasPattern, someCondition } from '../../../query/conditions.ts';
import type { Filter } from '../../../query/filter.ts';
import type { Query } from '../../../query/selection.ts';
import type { TableSchema } from '../../../schema/model.ts';
import { lookUpFieldsOf, uniqueFieldsOf } from '../../../schema/system-tables.ts';

/** Records of an answer that are read at once; longer answers are read and sent page by page. */
export const WHOLE = 1_000;
/** Records that a read may touch which shares its connection with others. */
const FEW = 100;

/** Patterns, full text and sub-queries cost what they cost, even for one record. */
const costly: ReadonlySet<Filter['kind']> = new Set(['text', 'inQuery', 'select', 'relatedTo', 'hasMember']);

/** Whether a query is short for certain, whatever the data: an index leads to the few records that it looks at. */
export function isShort({ table, filter, order, skip, limit, count }: Query): boolean {
  const isFirstFew = !count && skip + limit <= FEW;
  if (filter.kind === 'always') return isFirstFew && order.length === 0;
  if (isFirstFew && filter.kind === 'compare' && filter.op === 'eq' && isInOrder(table, filter.field.name, order)) return true;
  const unique = uniqueFieldsOf(table.className);
  const isPoint = (name: string) => name === 'objectId' || unique.has(name);
  return conjuncts(filter).some((item) => namesRecords(item, isPoint)) && !someCondition(filter, isCostly);
}

/** Whether the records with one value of a field lie in an index in the order that is asked for: that of creation, or of their ids. */
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
  return item.kind === 'in' && item.values.length <= FEW && isPoint(item.field.name);
}

function isCostly(condition: Filter): boolean {
  return costly.has(condition.kind) || hasPattern(condition);
}

/** Whether an aggregation has few rows, whatever the data. */
export function isFew(stages: readonly Stage[]): boolean {
  const last = stages.findLast(({ kind }) => kind === 'limit' || kind === 'group' || kind === 'unwind');
  if (last?.kind === 'limit') return last.count <= WHOLE;
  return last?.kind === 'group' && last.keys.length === 0;
}
