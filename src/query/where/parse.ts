import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, isStorable, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { forbiddenKeys } from '../../schema/model.ts';
import type { Filter } from '../model/filter.ts';
import { pointerAt, resolveName } from '../model/names.ts';
import { parseConstraint, parseTextOnce } from './constraint.ts';
import {
  allOf,
  anyOf,
  descend,
  negate,
  newSpending,
  type QueryScope,
  type Spending,
  spend,
  type WhereContext,
} from './context.ts';
import { relatedTo } from './members.ts';
import { pointedAt } from './sub-queries.ts';

/** Maximum number of JSON levels: those that limits.whereDepth levels of sub-queries can take, and a value below them. */
const MAX_JSON_DEPTH = 4 * limits.whereDepth + limits.jsonDepth;

/**
 * Parses a `where` against the caller's view of a table. The caller's guard is not part of the result: see `guardedFilter`.
 * Reference: queries.md#where.
 * @param spent the budget that the query has spent before; this where is added
 * @throws invalidWhere (500) for anything but an object; badQuery (102) for unknown operators, bad patterns, too much of anything;
 * badConstraint (107) for operands of the wrong form; invalidFieldName (105); invalidJson (107) for text no store can hold;
 * fieldDenied, permissionDenied (119); noTextIndex (500)
 */
export function parseWhere(where: JsonValue, grant: Grant, scope: QueryScope, spent: Spending = newSpending(scope)): Filter {
  if (!isJsonObject(where)) fail('invalidWhere', 'should be a JSON object');
  // Each where may hold one `$text`.
  spent.texts = 0;
  checkValue(where, 0, spent);
  return parseObject(where, { grant, scope, depth: 0, spent, parse: parseObject });
}

function parseObject(where: JsonObject, context: WhereContext): Filter {
  return allOf(Object.entries(where).map(([name, value]) => parseEntry(name, value, context)));
}

function parseEntry(name: string, value: JsonValue, context: WhereContext): Filter {
  switch (name) {
    case '$and':
      return allOf(branches(name, value, context));
    case '$or':
      return anyOf(branches(name, value, context));
    case '$nor':
      return negate(anyOf(branches(name, value, context)));
    case '$not':
      if (!isJsonObject(value)) fail('badQuery', 'Bad $not format - use an object value.');
      return negate(parseObject(value, descend(context)));
    case '$relatedTo':
      spend(context, 1);
      return relatedTo(value, context);
    case '$text':
      spend(context, 1);
      return parseTextOnce(value, context);
  }
  if (name.startsWith('$')) fail('badQuery', `bad constraint: ${name.slice(0, 50)}`);
  if (name === 'ACL' || name.startsWith('ACL.')) fail('badQuery', 'Cannot query on ACL.');
  const ref = resolveName(name, context.grant);
  const through = ref ? null : pointerAt(name, context.grant.table);
  return through ? pointedAt(through.pointer, { [through.rest]: value }, context) : parseConstraint(ref, value, context);
}

function branches(name: string, value: JsonValue, context: WhereContext): Filter[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) fail('badQuery', `Bad ${name} format - use an array value.`);
  if (name === '$nor' && value.length === 0) fail('badQuery', 'Bad $nor format - use an array of at least 1 value.');
  const inner = descend(context);
  spend(context, value.length);
  return value.map((branch) => parseObject(branch, inner));
}

/** Refuses values that no record can hold, and more values than a query may have, so that neither the parser nor an engine meets them. */
function checkValue(value: JsonValue, depth: number, spent: Spending): void {
  if (depth > MAX_JSON_DEPTH) fail('badQuery', 'where nests too deeply');
  if (++spent.values > limits.queryValues) fail('badQuery', `a query has at most ${limits.queryValues} values`);
  if (typeof value === 'string') checkText(value);
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) fail('invalidJson', 'a number is out of range');
  } else if (Array.isArray(value)) {
    for (const element of value) checkValue(element, depth + 1, spent);
  } else if (value !== null && typeof value === 'object') {
    for (const key of Object.keys(value)) {
      if (forbiddenKeys.has(key)) fail('invalidFieldName', key);
      checkText(key);
      checkValue(value[key] as JsonValue, depth + 1, spent);
    }
  }
}

function checkText(text: string): void {
  if (!isStorable(text)) fail('invalidJson', 'a string holds NUL or half a character');
}
