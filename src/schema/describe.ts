import type { JsonObject } from '../kernel/json.ts';
import { type ClassLevelPermissions, type Field, type Grants, optionsOf, rootOf, type TableSchema } from './model.ts';
import { describedActions } from './permissions.ts';
import { clientIndexes } from './search-index.ts';
import { isDescribed } from './system-tables.ts';

/** Labels of a table's fields, by field name. */
export type FieldLabels = ReadonlyMap<string, string>;

const noLabels: FieldLabels = new Map();

/** A table in the form of the schema endpoints. Reference: schemas.md#schema-record. */
export type SchemaRecord = JsonObject & { className: string };

/** What is left out of a schema record. */
interface Hiding {
  readonly hiddenFields: ReadonlySet<string>;
  /** Whether `protectedFields` is shown. */
  readonly showsProtectedFields: boolean;
}

const nothing: Hiding = { hiddenFields: new Set(), showsProtectedFields: true };

/**
 * Returns the schema record of a table. Text indexes are not shown. Reference: schemas.md#schema-record.
 * @param labels shown as `dictionary`; fields without one show none
 * @param hiding fields that the caller may not know; their names appear nowhere
 */
export function describeTable(
  table: TableSchema,
  labels: FieldLabels = noLabels,
  { hiddenFields, showsProtectedFields }: Hiding = nothing,
): SchemaRecord {
  const isVisible = (name: string) => name === 'password' || !hiddenFields.has(name);
  const described = [...table.fields.values()].filter(({ name }) => isDescribed(table.className, name) && isVisible(name));
  const record: Record<string, unknown> = {
    className: table.className,
    fields: Object.fromEntries(described.map((field) => [field.name, describeField(field, labels)])),
    classLevelPermissions: describePermissions(table.permissions, isVisible, showsProtectedFields),
  };
  const indexes = clientIndexes(table).filter(({ keys }) => keys.every(([field]) => isVisible(field)));
  if (indexes.length > 0) record.indexes = Object.fromEntries(indexes.map(({ name, keys }) => [name, Object.fromEntries(keys)]));
  const unique = [...table.uniqueIndexes.values()].filter(({ fields }) => fields.every(isVisible));
  if (unique.length > 0)
    record.uniqueIndexes = Object.fromEntries(unique.map(({ name, fields, as }) => [name, { fields, ...(as && { as }) }]));
  if (table.timeline) {
    const { displayFields, index } = table.timeline;
    record.timeline = { displayFields: visibleKeys(displayFields, isVisible), index: visibleKeys(index, isVisible) };
  }
  return record as SchemaRecord;
}

function describeField(field: Field, labels: FieldLabels): JsonObject {
  const described: JsonObject = { type: field.type };
  if (field.targetClass !== undefined) described.targetClass = field.targetClass;
  Object.assign(described, optionsOf(field));
  const label = labels.get(field.name);
  if (label !== undefined) described.dictionary = label;
  return described;
}

type IsVisible = (field: string) => boolean;

const visibleKeys = (settings: Readonly<Record<string, unknown>>, isSeen: IsVisible): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(settings).filter(([field]) => isSeen(rootOf(field))));

function describePermissions(
  { protectedFields, ...permissions }: ClassLevelPermissions,
  isSeen: IsVisible,
  tellsOfHiding: boolean,
): unknown {
  return {
    ...Object.fromEntries(describedActions.map((action) => [action, {}])),
    ...Object.fromEntries(Object.entries(permissions).map(([name, rule]) => [name, withoutHidden(rule, isSeen)])),
    ...(protectedFields && tellsOfHiding && { protectedFields }),
  };
}

/** `readUserFields`, `writeUserFields` and the `pointerFields` of an action are names of fields. */
function withoutHidden(rule: Grants[string] | Grants, isSeen: IsVisible): unknown {
  if (typeof rule === 'boolean') return rule;
  if (isNames(rule)) return rule.filter(isSeen);
  return Object.fromEntries(Object.entries(rule).map(([entity, given]) => [entity, withoutHidden(given, isSeen)]));
}

const isNames = (rule: readonly string[] | Grants): rule is readonly string[] => Array.isArray(rule);
