import type { Grant, Principal } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, FieldType, Schema } from '../../schema/model.ts';
import { parseIsoDate } from '../../values/json/iso.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { StoredValue } from '../../values/types/type.ts';
import type { FieldRef, Filter, JsonOperand } from '../model/filter.ts';
import type { SharedPatterns } from '../regex/index.ts';

/** The budget that a query has spent so far: its `where`, the sub-queries in it, and each `$match` over records. */
export interface Spending {
  terms: number;
  values: number;
  texts: number;
  /** Created for the first pattern. */
  readonly patterns: SharedPatterns;
}

/** Returns an unspent budget. */
export function newSpending({ patterns = {} }: QueryScope): Spending {
  return { terms: 0, values: 0, texts: 0, patterns };
}

/** The position of the parser in a `where`. */
export interface WhereContext {
  readonly grant: Grant;
  readonly scope: QueryScope;
  readonly depth: number;
  /** Shared by all levels. */
  readonly spent: Spending;
  /** Parses a `where` inside this one. Passed down so that operators need not import the parser. */
  readonly parse: (where: JsonObject, context: WhereContext) => Filter;
}

/**
 * An operator on a field.
 * @param ref `null` for a field that does not exist, which is absent everywhere
 * @param siblings the whole constraint, for operators that come in pairs
 */
export type FieldOperator = (ref: FieldRef | null, value: JsonValue, context: WhereContext, siblings: JsonObject) => Filter;

/** Returns the context one level down, of the same table or of a sub-query's. @throws badQuery beyond limits.whereDepth */
export function descend(context: WhereContext, grant: Grant = context.grant): WhereContext {
  if (context.depth >= limits.whereDepth) refuseDepth();
  return { ...context, grant, depth: context.depth + 1 };
}

/** @throws badQuery */
export function refuseDepth(): never {
  fail('badQuery', `where nests deeper than ${limits.whereDepth} levels`);
}

/** Counts constraints. @throws badQuery beyond limits.whereTerms */
export function spend(context: WhereContext, terms: number): void {
  context.spent.terms += terms;
  if (context.spent.terms > limits.whereTerms) fail('badQuery', `where has more than ${limits.whereTerms} constraints`);
}

/** The filter that matches every record. */
export const always: Filter = { kind: 'always' };
/** The filter that matches no record. */
export const never: Filter = { kind: 'never' };

/** True if all items are. Flattens, and drops items that decide nothing. */
export function allOf(items: readonly Filter[]): Filter {
  return combine('and', items, always, never);
}

/** True if one of the items is. Flattens, and drops items that decide nothing. */
export function anyOf(items: readonly Filter[]): Filter {
  return combine('or', items, never, always);
}

/** True exactly if the item is not. */
export function negate(item: Filter): Filter {
  if (item.kind === 'always') return never;
  if (item.kind === 'never') return always;
  return item.kind === 'not' ? item.item : { kind: 'not', item };
}

/** Adds the guard of the records that the caller may see: every query of a table runs with it. */
export function guardedFilter(grant: Grant, filter: Filter): Filter {
  if (grant.rows === null) return filter;
  const { rows: guard, table, masks } = grant;
  return allOf([masks.size > 0 ? { kind: 'guard', guard, table, masks } : { kind: 'guard', guard, table }, filter]);
}

function combine(kind: 'and' | 'or', items: readonly Filter[], neutral: Filter, deciding: Filter): Filter {
  const kept: Filter[] = [];
  for (const item of items) {
    if (item.kind === deciding.kind) return deciding;
    if (item.kind === neutral.kind) continue;
    if (item.kind === kind) for (const inner of item.items) kept.push(inner);
    else kept.push(item);
  }
  if (kept.length === 0) return neutral;
  return kept.length === 1 ? (kept[0] as Filter) : { kind, items: kept };
}

const plain: ReadonlySet<FieldType> = new Set(['String', 'HTML/XML', 'Number', 'Boolean', 'Date', 'Pointer']);

/** Whether a field's column holds the value itself, not JSON text and not a join table. */
export function isPlain(field: Field): boolean {
  return plain.has(field.type);
}

/**
 * Returns the stored form of a value that a plain column is compared with.
 * @returns `undefined` if the field can hold no such value: nothing is converted, so the constraint matches nothing
 */
export function columnValue(field: Field, value: JsonValue): StoredValue | undefined {
  switch (field.type) {
    case 'String':
    case 'HTML/XML':
      return typeof value === 'string' ? value : undefined;
    case 'Number':
      return typeof value === 'number' ? value : undefined;
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'Date':
      return instantOf(value);
    case 'Pointer':
      return pointerId(value, field.targetClass);
    default:
      return undefined;
  }
}

/** Returns the milliseconds since 1970 of a full Date object; `undefined` for anything else, bare strings included (queries.md#where). */
export function instantOf(value: JsonValue): number | undefined {
  if (!isJsonObject(value) || own(value, '__type') !== 'Date') return undefined;
  const iso = own(value, 'iso');
  return typeof iso === 'string' ? (parseIsoDate(iso) ?? undefined) : undefined;
}

/** Returns the objectId of a full Pointer object to the class. */
export function pointerId(value: JsonValue, className: string | undefined): string | undefined {
  const pointer = pointerOf(value);
  return pointer && pointer.className === className ? pointer.objectId : undefined;
}

/** Returns a value as it is compared inside JSON: with a place in an Object, or with an element of an Array. */
export function jsonOperand(value: JsonValue): JsonOperand {
  if (value === null) return { kind: 'null' };
  if (typeof value === 'string') return { kind: 'string', value };
  if (typeof value === 'number') return { kind: 'number', value };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  const instant = instantOf(value);
  if (instant !== undefined) return { kind: 'date', iso: isoText(instant) };
  const pointer = pointerOf(value);
  return pointer ? { kind: 'pointer', ...pointer } : { kind: 'json', canonical: canonicalJson(value) };
}

/** What a query needs besides its own table: for sub-queries, included records and relative times. */
export interface QueryScope {
  readonly schema: Schema;
  readonly principal: Principal;
  /** Milliseconds since 1970 that `$relativeTime` counts from; left out: the clock. */
  readonly now?: number;
  /** The remaining budget for the patterns of the request; left out: the query has a budget of its own. */
  readonly patterns?: SharedPatterns | undefined;
}
