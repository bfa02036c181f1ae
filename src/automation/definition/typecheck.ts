import { actorId, authorize, hiddenFieldsOf, master, type Principal } from '../../access/index.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter } from '../../query/model/filter.ts';
import { PresentNames } from '../../query/present-names.ts';
import { budgetOf, isLinear, PatternBudget, type SharedPatterns } from '../../query/regex/index.ts';
import { always, guardedFilter, parseWhere } from '../../query/where/index.ts';
import { refuseFormerName } from '../../schema/former-names.ts';
import { checkClassName, checkFieldName, type Field, rootOf, type Schema, type TableSchema } from '../../schema/model.ts';
import { isHidden, isSystemTable, secretFieldsOf } from '../../schema/system-tables.ts';
import type { Action, ActionData, Trigger } from '../model/model.ts';
import { pathsIn, piecesOf } from '../templates/parse.ts';
import { excerpt, isId, refuse } from './assertions.ts';

/** Templates in the actions of a definition. Bounded because each is resolved whenever the action runs. */
export const MAX_TEMPLATES = 10_000;

/**
 * Asserts that a definition fits the current tables.
 * Reference: triggers.md#definition.
 * @param patterns budget for regular expressions of the request
 * @throws invalidTrigger (107); renamedField (105) for former names of fields; errors of `where` for its criteria
 */
export function typecheck(trigger: Trigger, schema: Schema, patterns?: SharedPatterns): void {
  const table = tableNamed(trigger.table, 'table', schema);
  for (const [index, name] of trigger.changedFields.entries())
    if (!isPresent(name, table)) refuse(`changedFields[${index}] is no field of ${table.className}: ${excerpt(name)}`);
  for (const [index, action] of trigger.actions.entries()) checkAction(action, `actions[${index}].actionData`, table, schema);
  const data = trigger.actions.map((action) => action.data) as unknown as JsonValue;
  for (const path of pathsIn(data)) refuseFormerPath(path, table, schema);
  const templates = pathsIn(data);
  if (!templates.drop(MAX_TEMPLATES).next().done)
    refuse(`actions have more than ${MAX_TEMPLATES.toLocaleString('en')} templates`);
  const budget = new PatternBudget(limits.criteriaRegexSize, patterns && budgetOf(patterns));
  if (trigger.criteria !== null) parsedAs(master, 'find', trigger.criteria, table, schema, { patterns: { budget } });
}

/** Parsed criteria with the schema that they were parsed for; the whole schema, since sub-queries depend on other tables. */
interface Parsed {
  readonly schema: Schema;
  readonly filter: Filter;
}

/** Cached by caller. A caller is the same object as long as its roles do not change. */
const parsedCriteria = new WeakMap<Trigger, WeakMap<Principal, Parsed>>();

/**
 * Returns the criteria of a trigger as a filter. Cached, unless they contain `$relativeTime`.
 * @param table the trigger's table
 * @param principal the caller whose permissions apply; default: the master
 * @throws errors of `where` (queries.md#where) if the criteria do not fit the table; fieldDenied, permissionDenied (119)
 */
export function criteriaOf(trigger: Trigger, table: TableSchema, schema: Schema, principal: Principal = master): Filter {
  const { criteria } = trigger;
  if (criteria === null) return always;
  const ofTrigger = parsedCriteria.get(trigger) ?? new WeakMap<Principal, Parsed>();
  const known = ofTrigger.get(principal);
  if (known?.schema === schema) return known.filter;
  const filter = parsedAs(principal, 'find', presentOf(criteria, table, schema), table, schema, { inSnapshot: true });
  if (!usesCurrentTime(criteria)) parsedCriteria.set(trigger, ofTrigger.set(principal, { schema, filter }));
  return filter;
}

/**
 * Returns the criteria as a filter for reading a live record with the caller's permissions.
 * @throws as `criteriaOf`; fieldDenied, permissionDenied (119)
 */
export const criteriaVisibleTo = (principal: Principal, { criteria }: Trigger, table: TableSchema, schema: Schema): Filter =>
  criteria === null ? always : parsedAs(principal, 'get', presentOf(criteria, table, schema), table, schema);

/** A definition may be used that was read before fields were renamed. */
const presentOf = (criteria: JsonObject, { className }: TableSchema, schema: Schema): JsonObject =>
  new PresentNames(schema).where(className, criteria) as JsonObject;

function parsedAs(
  principal: Principal,
  action: 'find' | 'get',
  criteria: JsonObject,
  table: TableSchema,
  schema: Schema,
  { patterns, inSnapshot = false }: { readonly patterns?: SharedPatterns; readonly inSnapshot?: boolean } = {},
): Filter {
  const grant = authorize(principal, action, table, schema);
  // A snapshot holds unmasked values, so masked fields must be hidden.
  const visible = inSnapshot ? { ...grant, hiddenFields: hiddenFieldsOf(grant) } : grant;
  const filter = guardedFilter(grant, parseWhere(criteria, visible, { schema, principal, patterns }));
  refuseBacktracking(filter);
  return filter;
}

const usesCurrentTime = (criteria: JsonObject): boolean => JSON.stringify(criteria).includes('$relativeTime');

function tableNamed(name: string, place: string, schema: Schema): TableSchema {
  const table = schema.tables.get(name);
  return table && !isHidden(name) ? table : refuse(`${place} is not there: ${excerpt(name)}`);
}

const isField = (name: string, { className, fields }: TableSchema): boolean =>
  fields.has(name) && !secretFieldsOf(className).has(name);

/** @throws renamedField (105) for a former name */
function isPresent(name: string, table: TableSchema): boolean {
  refuseFormerName(table, rootOf(name), secretFieldsOf(table.className));
  return isField(name, table);
}

/** Refuses former names in the path of a template, which may follow Pointers. @throws renamedField (105) */
function refuseFormerPath(path: readonly string[], start: TableSchema, { tables }: Schema): void {
  let table: TableSchema | undefined = start;
  for (const name of path) {
    if (!table) return;
    refuseFormerName(table, name, secretFieldsOf(table.className));
    const field: Field | undefined = table.fields.get(name);
    table = field?.type === 'Pointer' ? tables.get(field.targetClass ?? '') : undefined;
  }
}

function checkAction(action: Action, place: string, table: TableSchema, schema: Schema): void {
  if (action.type === 'create-object')
    checkNames(action.data.fields, place, tableToWrite(action.data.table, `${place}.table`, schema));
  else if (action.type === 'notification') checkUser(action.data, place, table);
  else if (action.type === 'update-object') {
    const { target, fields } = action.data;
    checkNames(fields, place, target === 'self' ? table : targetOf(target, place, table, schema));
  }
}

/** Returns the table to write with the master's rights; `undefined` if the first write will create it. */
function tableToWrite(name: string, place: string, schema: Schema): TableSchema | undefined {
  if (schema.tables.has(name) || isSystemTable(name)) return tableNamed(name, place, schema);
  try {
    checkClassName(name);
  } catch {
    refuse(`${place} is no name of a table: ${excerpt(name)}`);
  }
  return undefined;
}

/** Rejects a field that does not point at users, and a text that cannot be an id: such a notification would never reach a user. */
function checkUser({ user, isPointer }: ActionData['notification'], place: string, table: TableSchema): void {
  if (isPointer) return;
  const field = isPresent(user, table) ? table.fields.get(user) : undefined;
  if (
    field
      ? field.type !== 'Pointer' || field.targetClass !== '_User'
      : !isId(user) && user !== actorId(master) && !isTemplate(user)
  )
    refuse(`${place}.user is neither an id, a template nor a Pointer of ${table.className} to _User: ${excerpt(user)}`);
}

const isTemplate = (text: string): boolean => piecesOf(text).some((piece) => typeof piece === 'object');

/** Returns the table that a Pointer field points at; `undefined` if it does not exist yet. */
function targetOf(name: string, place: string, table: TableSchema, schema: Schema): TableSchema | undefined {
  const field = isPresent(name, table) ? table.fields.get(name) : undefined;
  if (field?.type !== 'Pointer')
    refuse(`${place}.target is neither self nor a Pointer field of ${table.className}: ${excerpt(name)}`);
  return schema.tables.get(field.targetClass ?? '');
}

/** Names that the table lacks are checked as new fields. */
function checkNames(fields: Readonly<Record<string, unknown>>, place: string, table: TableSchema | undefined): void {
  for (const name of Object.keys(fields)) {
    const root = rootOf(name);
    if (table?.fields.has(root)) continue;
    if (table) refuseFormerName(table, root, secretFieldsOf(table.className));
    try {
      checkFieldName(root);
    } catch {
      refuse(`${place}.fields has an invalid name: ${excerpt(name)}`);
    }
  }
}

/**
 * Rejects patterns that need backtracking. Anyone can submit text through a form, and with a crafted text such a pattern could run for ever and block
 * the readers of its system.
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
