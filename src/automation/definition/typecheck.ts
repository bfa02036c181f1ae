import { actorId, authorize, master, type Principal, unseenIn } from '../../access/index.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter } from '../../query/model/filter.ts';
import { budgetOf, isLinear, PatternBudget, type SharedPatterns } from '../../query/regex/index.ts';
import { always, guardedFilter, parseWhere } from '../../query/where/index.ts';
import { checkClassName, checkFieldName, rootOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { isHidden, isSystemTable, secretFieldsOf } from '../../schema/system-tables.ts';
import type { Action, ActionData, Trigger } from '../model/model.ts';
import { pathsIn, piecesOf } from '../templates/parse.ts';
import { isId, refuse, shown } from './assertions.ts';

/** Templates in the actions of a definition: each is looked up whenever the action is done. */
const MAX_TEMPLATES = 10_000;

/**
 * Insists that a definition fits the tables as they are (docs/decisions.md "Triggers").
 * @param patterns what the request may spend on patterns
 * @throws invalidTrigger (107); of its criteria, the errors of `where`
 */
export function typecheck(trigger: Trigger, schema: Schema, patterns?: SharedPatterns): void {
  const table = tableNamed(trigger.table, 'table', schema);
  for (const [index, name] of trigger.changedFields.entries())
    if (!isField(name, table)) refuse(`changedFields[${index}] is no field of ${table.className}: ${shown(name)}`);
  for (const [index, action] of trigger.actions.entries()) checkAction(action, `actions[${index}].actionData`, table, schema);
  const templates = pathsIn(trigger.actions.map(({ data }) => data) as unknown as JsonValue);
  if (!templates.drop(MAX_TEMPLATES).next().done)
    refuse(`actions have more than ${MAX_TEMPLATES.toLocaleString('en')} templates`);
  const budget = new PatternBudget(limits.criteriaRegexSize, patterns && budgetOf(patterns));
  if (trigger.criteria !== null) parsedAs(master, 'find', trigger.criteria, table, schema, { patterns: { budget } });
}

/** What criteria were parsed to, as of a schema: sub-queries depend on other tables too. */
interface Parsed {
  readonly schema: Schema;
  readonly filter: Filter;
}

/** By the caller as whom they are read, who is one object for as long as his roles stay. */
const parsed = new WeakMap<Trigger, WeakMap<Principal, Parsed>>();

/**
 * The criteria of a trigger as a filter. Remembered, but for those that count from the present time.
 * @param table the trigger's
 * @param principal as whom they are read: what he may not see does not count. Left out: the master
 * @throws the errors of `where` (docs/decisions.md "Queries"), where the criteria do not fit the table; fieldDenied, permissionDenied (119)
 */
export function criteriaOf(trigger: Trigger, table: TableSchema, schema: Schema, principal: Principal = master): Filter {
  const { criteria } = trigger;
  if (criteria === null) return always;
  const ofTrigger = parsed.get(trigger) ?? new WeakMap<Principal, Parsed>();
  const known = ofTrigger.get(principal);
  if (known?.schema === schema) return known.filter;
  const filter = parsedAs(principal, 'find', criteria, table, schema, { inSnapshot: true });
  if (!tellsOfNow(criteria)) parsed.set(trigger, ofTrigger.set(principal, { schema, filter }));
  return filter;
}

/**
 * The same as somebody reads them who looks at a record: what he may not see does not count.
 * @throws as `criteriaOf`; fieldDenied, permissionDenied (119)
 */
export const criteriaAsSeenBy = (principal: Principal, { criteria }: Trigger, table: TableSchema, schema: Schema): Filter =>
  criteria === null ? always : parsedAs(principal, 'get', criteria, table, schema);

function parsedAs(
  principal: Principal,
  action: 'find' | 'get',
  criteria: JsonObject,
  table: TableSchema,
  schema: Schema,
  { patterns, inSnapshot = false }: { readonly patterns?: SharedPatterns; readonly inSnapshot?: boolean } = {},
): Filter {
  const grant = authorize(principal, action, table, schema);
  // A snapshot has the values themselves: what a mask stands before is hidden in it.
  const asked = inSnapshot ? { ...grant, hiddenFields: unseenIn(grant) } : grant;
  const filter = guardedFilter(grant, parseWhere(criteria, asked, { schema, principal, patterns }));
  refuseBacktracking(filter);
  return filter;
}

const tellsOfNow = (criteria: JsonObject): boolean => JSON.stringify(criteria).includes('$relativeTime');

function tableNamed(name: string, place: string, schema: Schema): TableSchema {
  const table = schema.tables.get(name);
  return table && !isHidden(name) ? table : refuse(`${place} is not there: ${shown(name)}`);
}

const isField = (name: string, { className, fields }: TableSchema): boolean =>
  fields.has(name) && !secretFieldsOf(className).has(name);

function checkAction(action: Action, place: string, table: TableSchema, schema: Schema): void {
  if (action.type === 'create-object')
    checkNames(action.data.fields, place, tableToWrite(action.data.table, `${place}.table`, schema));
  else if (action.type === 'notification') checkUser(action.data, place, table);
  else if (action.type === 'update-object') {
    const { target, fields } = action.data;
    checkNames(fields, place, target === 'self' ? table : targetOf(target, place, table, schema));
  }
}

/** A table of the master's to write; `undefined` for one to be, which the first write makes. */
function tableToWrite(name: string, place: string, schema: Schema): TableSchema | undefined {
  if (schema.tables.has(name) || isSystemTable(name)) return tableNamed(name, place, schema);
  try {
    checkClassName(name);
  } catch {
    refuse(`${place} is no name of a table: ${shown(name)}`);
  }
  return undefined;
}

/** A field that leads to no user, and what is no id, would come to nobody each time. */
function checkUser({ user, isPointer }: ActionData['notification'], place: string, table: TableSchema): void {
  if (isPointer) return;
  const field = isField(user, table) ? table.fields.get(user) : undefined;
  if (
    field
      ? field.type !== 'Pointer' || field.targetClass !== '_User'
      : !isId(user) && user !== actorId(master) && !isTemplate(user)
  )
    refuse(`${place}.user is neither an id, a template nor a Pointer of ${table.className} to _User: ${shown(user)}`);
}

const isTemplate = (text: string): boolean => piecesOf(text).some((piece) => typeof piece === 'object');

/** The table that a Pointer field leads to; `undefined` where it is not there yet. */
function targetOf(name: string, place: string, table: TableSchema, schema: Schema): TableSchema | undefined {
  const field = isField(name, table) ? table.fields.get(name) : undefined;
  if (field?.type !== 'Pointer')
    refuse(`${place}.target is neither self nor a Pointer field of ${table.className}: ${shown(name)}`);
  return schema.tables.get(field.targetClass ?? '');
}

/** Names that a table has not are those of fields to be. */
function checkNames(fields: Readonly<Record<string, unknown>>, place: string, table: TableSchema | undefined): void {
  for (const name of Object.keys(fields)) {
    const root = rootOf(name);
    if (table?.fields.has(root)) continue;
    try {
      checkFieldName(root);
    } catch {
      refuse(`${place}.fields has an invalid name: ${shown(name)}`);
    }
  }
}

/**
 * Refuses patterns that need backtracking: with the right text, which anybody may send by a form, one takes for ever, and holds up the readers
 * of its system.
 * @throws invalidTrigger (107)
 */
export function refuseBacktracking(filter: Filter): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      filter.items.forEach(refuseBacktracking);
      break;
    case 'not':
      refuseBacktracking(filter.item);
      break;
    case 'regex':
      check(filter.regex);
      break;
    case 'hasAll':
      for (const operand of filter.operands) if (operand.kind === 'pattern') check(operand);
      break;
    case 'inQuery':
    case 'select':
      refuseBacktracking(filter.target.filter);
  }
}

function check({ pattern, options, literal }: { pattern: string; options: string; literal?: unknown }): void {
  if (literal === undefined && !isLinear(pattern, options))
    refuse('criteria has a pattern with lookaround or back references, which may take for ever');
}
