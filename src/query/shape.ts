import type { JsonObject, JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import { storageOf } from '../values/index.ts';
import type { FieldRef, Filter, OrderKey, SubQuery } from './model/filter.ts';

/** Conditions that a shape names; of a filter with more, the rest is `…`. */
const MAX_CONDITIONS = 40;
/** Levels of `$or`, `$and` and sub-queries that a shape shows. */
const MAX_DEPTH = 8;
const REST = '…';

/** What a shape may still name. */
interface Room {
  conditions: number;
}

type Entry = readonly [name: string, operator: JsonValue];

/**
 * Returns the shape of a filter in the form of a `where`: names of fields and operators, never values. What permissions add is left out.
 * `{City: $eq, $or: [{Age: [$gt, $lt]}, …]}`. Bounded in size. Reference: operations.md#slow-queries.
 */
export function whereShape(filter: Filter): JsonObject {
  return shapeOf(filter, { conditions: MAX_CONDITIONS }, MAX_DEPTH);
}

/** Returns an order in the form of `order`, without the objectId that ends every order. */
export function orderShape(order: readonly OrderKey[]): string[] {
  const names = order.map((key) => `${key.descending ? '-' : ''}${orderName(key)}`);
  if (names.length > 1 && names.at(-1) === 'objectId') names.pop();
  return names.length > MAX_CONDITIONS ? [...names.slice(0, MAX_CONDITIONS), REST] : names;
}

/** Returns the kinds of stages of an aggregation, in order. */
export function stagesShape(stages: ReadonlyArray<{ readonly kind: string }>): string[] {
  const names = stages.map(({ kind }) => (kind === 'compute' ? '$project' : `$${kind}`));
  return names.length > MAX_CONDITIONS ? [...names.slice(0, MAX_CONDITIONS), REST] : names;
}

function orderName(key: OrderKey): string {
  if (key.kind === 'score') return '$score';
  const path = key.kind === 'pointed' ? key.steps.map(({ pointer }) => pointer.name) : [];
  return [...path, nameOf(key.ref)].join('.').slice(0, 2 * limits.nameLength);
}

function shapeOf(filter: Filter, room: Room, depth: number): JsonObject {
  const shape: Record<string, JsonValue> = {};
  for (const [name, operator] of entriesOf(filter, room, depth)) add(shape, name, operator);
  return shape;
}

/** Adds an operator; several of one field, or several `$or`, become a list. */
function add(shape: Record<string, JsonValue>, name: string, operator: JsonValue): void {
  const present = shape[name];
  if (present === undefined) shape[name] = operator;
  else if (name === REST) return;
  else if (name.startsWith('$') && name !== '$and') add(shape, '$and', [{ [name]: operator }]);
  else shape[name] = [...asList(present), ...asList(operator)];
}

const asList = (value: JsonValue): JsonValue[] => (Array.isArray(value) ? value : [value]);

/** Yields the conditions of a filter as members of a `where`. */
function* entriesOf(filter: Filter, room: Room, depth: number): Generator<Entry> {
  if (filter.kind === 'always' || filter.kind === 'guard') return;
  if (room.conditions <= 0 || depth === 0) yield [REST, REST];
  else if (filter.kind === 'and') yield* allEntries(filter.items, room, depth);
  else if (filter.kind === 'or') {
    const [first] = filter.items;
    // One operator on a place: it may hold the value itself, or an array with it.
    if (first && isOfOnePlace(filter.items)) yield* entriesOf(first, room, depth);
    else yield ['$or', branches(filter.items, room, depth)];
  } else if (filter.kind === 'not') yield* negated(filter.item, room, depth);
  else {
    room.conditions--;
    yield conditionOf(filter as Single, room, depth);
  }
}

function* allEntries(items: readonly Filter[], room: Room, depth: number): Generator<Entry> {
  for (const item of items) {
    yield* entriesOf(item, room, depth);
    if (room.conditions > 0) continue;
    if (item !== items.at(-1)) yield [REST, REST];
    return;
  }
}

const refOf = (filter: Filter | undefined) => (filter && 'ref' in filter ? filter.ref : undefined);

function isOfOnePlace(items: readonly Filter[]): boolean {
  const ref = refOf(items[0]);
  return ref !== undefined && items.every((item) => refOf(item) === ref);
}

function branches(items: readonly Filter[], room: Room, depth: number): JsonValue[] {
  const shown: JsonValue[] = [];
  for (const item of items) {
    if (room.conditions <= 0) return [...shown, REST];
    shown.push(shapeOf(item, room, depth - 1));
  }
  return shown;
}

const opposites: ReadonlyMap<JsonValue, string> = new Map([
  ['$eq', '$ne'],
  ['$in', '$nin'],
  ['$exists', '$exists'],
]);

function* negated(item: Filter, room: Room, depth: number): Generator<Entry> {
  if (item.kind === 'or' && !isOfOnePlace(item.items)) yield ['$nor', branches(item.items, room, depth)];
  else if (item.kind === 'and' || item.kind === 'not') yield ['$nor', branches([item], room, depth)];
  else
    for (const [name, operator] of entriesOf(item, room, depth))
      yield [name, name.startsWith('$') ? { $not: operator } : (opposites.get(operator) ?? opposite(operator))];
}

function opposite(operator: JsonValue): JsonValue {
  const { $inQuery, $select } = operator as { readonly $inQuery?: JsonValue; readonly $select?: JsonValue };
  if ($inQuery !== undefined) return { $notInQuery: $inQuery };
  return $select === undefined ? { $not: operator } : { $dontSelect: $select };
}

type Single = Exclude<Filter, { kind: 'always' | 'guard' | 'not' } | { kind: 'and' | 'or' }>;

function conditionOf(filter: Single, room: Room, depth: number): Entry {
  switch (filter.kind) {
    case 'compare':
      return [filter.field.name, `$${filter.op}`];
    case 'in':
      return [filter.field.name, '$in'];
    case 'jsonCompare':
    case 'hasOrdered':
      return [nameOf(filter.ref), `$${filter.op}`];
    case 'exists':
      return [nameOf(filter.ref), '$exists'];
    case 'hasAny':
      return [nameOf(filter.ref), filter.operands.length === 1 ? '$eq' : '$in'];
    case 'hasAll':
      return [nameOf(filter.ref), '$all'];
    case 'hasOnly':
      return [nameOf(filter.ref), '$containedBy'];
    case 'regex':
      return [nameOf(filter.ref), '$regex'];
    case 'hasMember':
      return [filter.relation.name, filter.memberIds.length === 1 ? '$eq' : '$in'];
    case 'inQuery':
      return [nameOf(filter.ref), { $inQuery: subQuery(filter.target, room, depth) }];
    case 'select':
      return [nameOf(filter.ref), { $select: { query: subQuery(filter.target, room, depth), key: nameOf(filter.key) } }];
    case 'relatedTo':
      return ['$relatedTo', { className: filter.owner.table.className, key: filter.relation.name }];
    case 'text':
      return ['$text', '$search'];
    default:
      return [`$${filter.kind}`, true];
  }
}

const subQuery = ({ table, filter }: SubQuery, room: Room, depth: number): JsonObject => ({
  className: table.className,
  where: shapeOf(filter, room, depth - 1),
});

/** Names inside an Object are what clients store, maybe ids: only the field is named. */
const nameOf = ({ field, path }: FieldRef): string =>
  path.length > 0 && storageOf(field) === 'json' ? `${field.name}.*` : field.name;
