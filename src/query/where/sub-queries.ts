import { authorize, type Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import type { FieldRef, Filter, SubQuery } from '../model/filter.ts';
import { resolveName } from '../model/names.ts';
import { descend, type FieldOperator, guardedFilter, never, type QueryScope, spend, type WhereContext } from './context.ts';

/**
 * `$inQuery: {where, className, limit?, skip?}`: the Pointer, or a Pointer of the Array or Relation, leads to a record of the
 * sub-query, which runs with the caller's own rights. An unknown class has no records. `redirectClassNameForKey` leads it to another class,
 * as it does a query. Reference: queries.md#sub-queries.
 * @throws badQuery when malformed; permissionDenied; what the inner `where` throws
 */
export function inQuery(operator: string): FieldOperator {
  return (ref, value, context) => {
    if (!isJsonObject(value)) misused(operator);
    const sub = subQuery(operator, value, context);
    if (!sub || ref === null) return never;
    const { type, targetClass } = ref.field;
    const leadsThere = ref.path.length > 0 || type === 'Array' || targetClass === sub.target.table.className;
    return leadsThere ? { kind: 'inQuery', ref, target: sub.target } : never;
  };
}

/**
 * A dotted name through a Pointer, as the `$inQuery` that it stands for. Reference: queries.md#names-through-pointers.
 * @param where on the record that the Pointer leads to
 * @throws what `inQuery` throws
 */
export function pointedAt(pointer: Field, where: JsonObject, context: WhereContext): Filter {
  spend(context, 1);
  return inQueryOperator({ field: pointer, path: [] }, { className: pointer.targetClass ?? '', where }, context, {});
}

/**
 * `$select: {query: {className, where?, limit?, skip?}, key}`: the value, or an element of the Array, equals that of `key` in a
 * record of the sub-query. Reference: queries.md#sub-queries.
 * @throws badQuery when malformed; permissionDenied; fieldDenied; what the inner `where` throws
 */
export function select(operator: string): FieldOperator {
  return (ref, value, context) => {
    if (!isJsonObject(value) || Object.keys(value).length !== 2) misused(operator);
    const query = own(value, 'query');
    const name = own(value, 'key');
    if (!isJsonObject(query) || typeof name !== 'string') misused(operator);
    const sub = subQuery(operator, { where: {}, ...query }, context);
    if (!sub) return never;
    const key = resolveName(name, sub.grant);
    return isValue(ref) && isValue(key) ? { kind: 'select', ref, target: sub.target, key } : never;
  };
}

const inQueryOperator = inQuery('$inQuery');

const isValue = (ref: FieldRef | null): ref is FieldRef => ref !== null && ref.field.type !== 'Relation';

function subQuery(operator: string, value: JsonObject, context: WhereContext): { target: SubQuery; grant: Grant } | null {
  const className = own(value, 'className');
  const where = own(value, 'where');
  if (typeof className !== 'string' || !isJsonObject(where)) misused(operator);
  const page = { ...wholeNumber(operator, value, 'limit'), ...wholeNumber(operator, value, 'skip') };
  const key = own(value, 'redirectClassNameForKey') ?? '';
  if (typeof key !== 'string') misused(operator);
  const requested = context.scope.schema.tables.get(className);
  const table = requested && key !== '' ? redirected(requested, key, context.scope) : requested;
  if (!table) return null;
  const grant = authorize(context.scope.principal, 'find', table, context.scope.schema);
  const filter = guardedFilter(grant, context.parse(where, descend(context, grant)));
  return { target: { table, filter, ...page }, grant };
}

function wholeNumber<K extends 'limit' | 'skip'>(operator: string, value: JsonObject, key: K): { [P in K]?: number } {
  const number: JsonValue | undefined = own(value, key);
  if (number === undefined) return {};
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) misused(operator);
  return { [key]: number } as { [P in K]?: number };
}

function misused(operator: string): never {
  fail('badQuery', `improper usage of ${operator}`);
}

/**
 * Returns the table that `redirectClassNameForKey` leads a query to: that of the members of a Relation, for clients that do not know it. As in
 * Parse, a key that is no Relation leads nowhere else. The query itself authorises what the caller may read there.
 * Reference: queries.md#relations.
 * @param table that the query is sent to, as the owner of the Relation
 * @returns `undefined` if the Relation's table does not exist
 * @throws permissionDenied if the caller may read no owner; fieldDenied (119) for a hidden key; invalidFieldName (105)
 */
export function redirected(table: TableSchema, key: string, { schema, principal }: QueryScope): TableSchema | undefined {
  const field = resolveName(key, authorize(principal, 'get', table))?.field;
  return field?.type === 'Relation' ? schema.tables.get(field.targetClass ?? '') : table;
}
