/**
 * A plain in-memory implementation of the query rules: what a query must return. Written to be checked by eye against queries.md, not for speed.
 * Reference: queries.md#where.
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Where = { [key: string]: Json };
/** A record in wire form; absent fields are missing, and `createdAt` is a wrapped Date here. */
export type Row = { objectId: string; [field: string]: Json };

export interface Query {
  where?: Where;
  order?: string[];
  skip?: number;
  limit?: number;
  count?: boolean;
  keys?: string[];
  excludeKeys?: string[];
}

export interface Tables {
  [name: string]: Row[];
}

/** Returns the answer to a query over `rows` (in the order of creation). `tables` serves sub-queries. */
export function runQuery(rows: Row[], query: Query, tables: Tables = {}): { results: Row[]; count?: number } {
  const found = rows.filter((row) => matches(row, query.where ?? {}, tables));
  if (query.order && query.order.length > 0) found.sort((a, b) => compareRows(a, b, query.order ?? []));
  const skip = query.skip ?? 0;
  const page = found.slice(skip, skip + (query.limit ?? 100)).map((row) => project(row, query));
  return query.count ? { results: page, count: found.length } : { results: page };
}

/** Returns whether a record satisfies every part of a `where`. */
export function matches(row: Row, where: Where, tables: Tables = {}): boolean {
  return Object.entries(where).every(([key, constraint]) => {
    if (key === '$or') return branches(constraint).some((branch) => matches(row, branch, tables));
    if (key === '$and') return branches(constraint).every((branch) => matches(row, branch, tables));
    if (key === '$nor') return !branches(constraint).some((branch) => matches(row, branch, tables));
    return satisfies(valueAt(row, key), constraint, tables);
  });
}

function branches(value: Json | undefined): Where[] {
  return value as Where[];
}

/** Returns the value at a dotted path; null counts as absent everywhere. */
export function valueAt(row: Row, path: string): Json | undefined {
  let value: Json | undefined = row;
  for (const name of path.split('.')) {
    if (!isPlainObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value === null ? undefined : value;
}

function satisfies(value: Json | undefined, constraint: Json, tables: Tables): boolean {
  if (!isConstraint(constraint)) return equalsOrContains(value, constraint);
  return Object.entries(constraint).every(([operator, argument]) => {
    if (operator === '$options') return true;
    if (operator === '$not') return !satisfies(value, argument, tables);
    return holds(operator, value, argument, constraint, tables);
  });
}

function holds(operator: string, value: Json | undefined, argument: Json, constraint: Where, tables: Tables): boolean {
  const list = Array.isArray(argument) ? argument : [];
  switch (operator) {
    case '$eq':
      return equalsOrContains(value, argument);
    case '$ne':
      return !equalsOrContains(value, argument);
    case '$lt':
      return someElement(value, (element) => ordered(element, argument, (sign) => sign < 0));
    case '$lte':
      return someElement(value, (element) => ordered(element, argument, (sign) => sign <= 0));
    case '$gt':
      return someElement(value, (element) => ordered(element, argument, (sign) => sign > 0));
    case '$gte':
      return someElement(value, (element) => ordered(element, argument, (sign) => sign >= 0));
    case '$in':
    case 'containedIn':
      return list.some((wanted) => equalsOrContains(value, wanted));
    case '$nin':
    case 'notContainedIn':
      return !list.some((wanted) => equalsOrContains(value, wanted));
    case '$exists':
      return (value !== undefined) === argument;
    case '$all':
      return Array.isArray(value) && list.every((wanted) => value.some((element) => equal(element, wanted)));
    case '$containedBy':
      return Array.isArray(value) && value.every((element) => list.some((allowed) => equal(element, allowed)));
    case '$regex':
      return someElement(value, (element) => typeof element === 'string' && pattern(argument, constraint).test(element));
    case '$inQuery':
      return pointsInto(value, argument, tables);
    case '$notInQuery':
      return !pointsInto(value, argument, tables);
    default:
      throw new Error(`the oracle does not know ${operator}`);
  }
}

/** Equality with null matches absence; on an Array it matches an element. */
function equalsOrContains(value: Json | undefined, wanted: Json): boolean {
  if (wanted === null) return value === undefined;
  return someElement(value, (element) => equal(element, wanted));
}

/** A scalar constraint on an Array field matches if one element matches. Reference: queries.md#arrays. */
function someElement(value: Json | undefined, test: (element: Json) => boolean): boolean {
  if (value === undefined) return false;
  return Array.isArray(value) ? value.some(test) : test(value);
}

function pattern(source: Json, constraint: Where): RegExp {
  const quoted = String(source).replace(/\\Q(.*?)\\E/g, (_, text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(quoted, `u${typeof constraint.$options === 'string' ? constraint.$options : ''}`);
}

/** The sub-query has no default limit. Reference: queries.md#sub-queries. */
function pointsInto(value: Json | undefined, argument: Json, tables: Tables): boolean {
  const { className, where } = argument as { className: string; where: Where };
  const targets = (tables[className] ?? []).filter((row) => matches(row, where, tables));
  return someElement(value, (element) =>
    targets.some((row) => equal(element, { __type: 'Pointer', className, objectId: row.objectId })),
  );
}

type Kind = 'number' | 'string' | 'boolean' | 'Date' | 'Pointer' | 'object';

/** Values of different kinds are neither equal nor ordered: such a constraint matches nothing. */
function kindOf(value: Json): Kind {
  if (isPlainObject(value)) return value.__type === 'Date' || value.__type === 'Pointer' ? value.__type : 'object';
  return typeof value as Kind;
}

function equal(a: Json, b: Json): boolean {
  const kind = kindOf(a);
  if (kind !== kindOf(b)) return false;
  return kind === 'object' ? JSON.stringify(a) === JSON.stringify(b) : sortKey(a) === sortKey(b);
}

function ordered(a: Json, b: Json, test: (sign: number) => boolean): boolean {
  const kind = kindOf(a);
  return kind === kindOf(b) && kind !== 'object' && test(compare(a, b));
}

function sortKey(value: Json): number | string {
  if (isPlainObject(value))
    return value.__type === 'Date' ? Date.parse(String(value.iso)) : `${value.className}$${value.objectId}`;
  return typeof value === 'string' ? value : Number(value);
}

/** Strings compare by the bytes of their UTF-8 form. */
function compare(a: Json, b: Json): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  if (typeof left === 'string' || typeof right === 'string')
    return Buffer.compare(Buffer.from(String(left)), Buffer.from(String(right)));
  return left - right;
}

/** Absent values sort first ascending and last descending; ties break by objectId, ascending in either direction. */
function compareRows(a: Row, b: Row, order: string[]): number {
  for (const key of order) {
    const descending = key.startsWith('-');
    const path = descending ? key.slice(1) : key;
    const [left, right] = [valueAt(a, path), valueAt(b, path)];
    const sign =
      left === undefined || right === undefined ? Number(left !== undefined) - Number(right !== undefined) : compare(left, right);
    if (sign !== 0) return descending ? -sign : sign;
  }
  return compare(a.objectId, b.objectId);
}

const alwaysKept = ['objectId', 'createdAt', 'updatedAt', 'ACL'];

function project(row: Row, { keys, excludeKeys }: Query): Row {
  const kept = Object.entries(row).filter(([name, value]) => {
    if (value === null) return false;
    if (alwaysKept.includes(name)) return true;
    return (keys === undefined || keys.includes(name)) && !excludeKeys?.includes(name);
  });
  return Object.fromEntries(kept) as Row;
}

function isPlainObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an object whose keys are operators; any other value is compared for equality. */
function isConstraint(value: Json): value is Where {
  const operators = ['containedIn', 'notContainedIn'];
  return isPlainObject(value) && Object.keys(value).some((key) => key.startsWith('$') || operators.includes(key));
}
