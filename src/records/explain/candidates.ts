import type { Filter, OrderKey } from '../../query/model/filter.ts';
import type { Query } from '../../query/model/selection.ts';
import { isIndexable } from '../../schema/definition-indexes.ts';
import type { Field, TableIndex, TableSchema } from '../../schema/model.ts';
import { lookUpFieldsOf, uniqueFieldsOf } from '../../schema/system-tables.ts';

/** Fields of an index that is advised. More of them hardly narrow a search. */
const MAX_KEYS = 5;

type Key = TableIndex['keys'][number];

/** An index that a query could use. */
export interface Candidate {
  /** Fields that are compared with one value, then those of a range, of a list or of the order. */
  readonly keys: readonly Key[];
  /** The conditions that it answers. */
  readonly conditions: readonly Filter[];
  /** Number of leading keys that are compared with one value. */
  readonly equal: number;
  /** Whether it returns the records in the requested order. */
  readonly isOrdered: boolean;
  /** Whether a range is limited on one side only, and nothing else is compared. */
  readonly isHalfOpen: boolean;
}

/** Candidates that one index serves. The first has its keys. */
export type Sharing = readonly [Candidate, ...Candidate[]];

/** Conditions that an index can answer, of those that all have to hold. */
interface Conditions {
  readonly equal: ReadonlyMap<string, Filter>;
  readonly ranges: ReadonlyMap<string, readonly Filter[]>;
  readonly lists: ReadonlyMap<string, Filter>;
  readonly alternatives: ReadonlyArray<readonly Filter[]>;
}

/**
 * Returns the indexes that could help a query: one, or one for each branch of an `$or`. Empty if none could.
 * @param query as the master sees it
 */
export function candidatesFor({ filter, order }: Query): readonly Candidate[] {
  const conditions = conditionsOf(filter);
  const candidate = candidateOf(conditions, sortKeys(order));
  if (candidate && candidate.conditions.length > 0) return [candidate];
  const [branches] = conditions.alternatives;
  if (branches) {
    // A branch without an index needs a scan, which finds the records of the others too.
    const each = branches.map((branch) => candidateOf(conditionsOf(branch), null));
    if (each.every((one) => one !== null)) return each;
  }
  return candidate ? [candidate] : [];
}

/** A page of HTML is longer than what an index may hold of a value. */
const mayIndex = (field: Field) => isIndexable(field) && field.type !== 'HTML/XML';

/** Returns the conditions that all have to hold, at any depth of `and`. */
export function conjuncts(filter: Filter): readonly Filter[] {
  if (filter.kind === 'and') return filter.items.flatMap(conjuncts);
  return filter.kind === 'always' || filter.kind === 'guard' ? [] : [filter];
}

/** Returns the field whose value a condition compares; `undefined` if it compares several, or places inside one. */
export function comparedField(condition: Filter): Field | undefined {
  if (condition.kind === 'compare' || condition.kind === 'in') return condition.field;
  const isOfField = condition.kind === 'regex' || condition.kind === 'exists' || condition.kind === 'inQuery';
  return isOfField && condition.ref.path.length === 0 ? condition.ref.field : undefined;
}

function conditionsOf(filter: Filter): Conditions {
  const equal = new Map<string, Filter>();
  const ranges = new Map<string, Filter[]>();
  const lists = new Map<string, Filter>();
  const alternatives: (readonly Filter[])[] = [];
  for (const condition of conjuncts(filter)) {
    if (condition.kind === 'or') alternatives.push(condition.items);
    const field = comparedField(condition);
    if (!field || !mayIndex(field)) continue;
    if (condition.kind === 'in') lists.set(field.name, condition);
    else if (isEquality(condition)) equal.set(field.name, condition);
    else if (isRange(condition)) ranges.set(field.name, [...(ranges.get(field.name) ?? []), condition]);
  }
  return { equal, ranges, lists, alternatives };
}

const isEquality = (condition: Filter) =>
  (condition.kind === 'compare' && condition.op === 'eq') ||
  (condition.kind === 'regex' && condition.regex.literal?.at === 'whole');

const isRange = (condition: Filter) =>
  condition.kind === 'compare' ||
  (condition.kind === 'regex' && condition.regex.literal?.at === 'start' && condition.regex.literal.text !== '');

function candidateOf({ equal, ranges, lists }: Conditions, order: readonly Key[] | null): Candidate | null {
  const compared = [...equal].slice(0, MAX_KEYS - 1);
  const keys = compared.map(([name]): Key => [name, 1]);
  const answered = compared.map(([, condition]) => condition);
  const sort = (order ?? []).filter(([name]) => !equal.has(name));
  const [range] = ranges;
  const [list] = lists;
  const first = sort[0]?.[0];
  const isOrdered = sort.length > 0 && !list && (!range || range[0] === first) && keys.length + sort.length <= MAX_KEYS;
  const shared = { equal: keys.length, isOrdered };
  if (isOrdered) {
    const inRange = range?.[1] ?? [];
    return { ...shared, keys: [...keys, ...sort], conditions: [...answered, ...inRange], isHalfOpen: false };
  }
  if (list) return { ...shared, keys: [...keys, [list[0], 1]], conditions: [...answered, list[1]], isHalfOpen: false };
  if (range) {
    const isHalfOpen = keys.length === 0 && range[1].length === 1 && range[1][0]?.kind === 'compare';
    return { ...shared, keys: [...keys, [range[0], 1]], conditions: [...answered, ...range[1]], isHalfOpen };
  }
  return keys.length === 0 ? null : { ...shared, keys, conditions: answered, isHalfOpen: false };
}

/** Returns the keys of an index in the order of a query; `null` if no index has it. Every index ends in objectId. */
function sortKeys(order: readonly OrderKey[]): readonly Key[] | null {
  const keys: Key[] = [];
  for (const key of order) {
    if (key.kind !== 'field' || key.ref.path.length > 0 || !mayIndex(key.ref.field)) return null;
    keys.push([key.ref.field.name, key.descending ? -1 : 1]);
  }
  const last = keys.at(-1);
  return keys.length > 1 && last?.[0] === 'objectId' && last[1] === 1 ? keys.slice(0, -1) : keys;
}

/**
 * Joins candidates that one index serves: those with the same fields, and those with its first ones.
 * @returns `null` if they need more than so many indexes
 */
export function sharedIndexes(candidates: readonly Candidate[], atMost: number): readonly Sharing[] | null {
  const shared: [Candidate, ...Candidate[]][] = [];
  for (const candidate of candidates.toSorted((one, other) => other.keys.length - one.keys.length)) {
    const sharing = shared.find(([first]) => covers(first.keys, candidate));
    if (sharing) sharing.push(candidate);
    else if (shared.push([candidate]) > atMost) return null;
  }
  return shared;
}

/** Whether the table has an index that does for a query what the candidate would. */
export function isServed(table: TableSchema, candidate: Candidate): boolean {
  for (const { name, keys } of table.indexes.values()) if (!name.startsWith('~') && covers(keys, candidate)) return true;
  for (const { fields, as } of table.uniqueIndexes.values())
    if (
      as === undefined &&
      !candidate.isOrdered &&
      covers(
        fields.map((field): Key => [field, 1]),
        candidate,
      )
    )
      return true;
  const [key] = candidate.keys;
  return candidate.keys.length === 1 && key !== undefined && hasOwnIndex(table, key[0]);
}

function covers(keys: readonly Key[], { keys: wanted, equal, isOrdered }: Candidate): boolean {
  const compared = new Set(wanted.slice(0, equal).map(([name]) => name));
  const leading = keys.slice(0, equal);
  if (leading.length < equal || !leading.every(([name]) => compared.has(name))) return false;
  const rest = wanted.slice(equal);
  const following = keys.slice(equal, equal + rest.length);
  if (following.length < rest.length || !rest.every(([name], at) => following[at]?.[0] === name)) return false;
  if (!isOrdered) return true;
  // An index is read backwards too, but then objectId at its end is descending.
  return rest.every(([, direction], at) => following[at]?.[1] === direction);
}

/** Whether every table has an index for a field (schemas.md#indexes). */
function hasOwnIndex({ className, fields }: TableSchema, name: string): boolean {
  if (name === 'objectId' || name === 'createdAt' || fields.get(name)?.type === 'Pointer') return true;
  return uniqueFieldsOf(className).has(name) || lookUpFieldsOf(className).has(name);
}
