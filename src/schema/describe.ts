import type { JsonObject } from '../kernel/json.ts';
import type { ClassLevelPermissions, Field, TableSchema } from './model.ts';
import { shownActions } from './permissions.ts';
import { isDescribed } from './system-tables.ts';

/** Labels of a table's fields, by field name. */
export type FieldLabels = ReadonlyMap<string, string>;

const noLabels: FieldLabels = new Map();
const noFields: ReadonlySet<string> = new Set();

/**
 * The schema record of a table (SPEC "Schema record"). Which fields have a text index is not shown (SPEC "Schemas").
 * @param labels shown as `dictionary`; fields without one show none
 * @param hidden fields that the caller is not shown
 */
export function describeTable(
  table: TableSchema,
  labels: FieldLabels = noLabels,
  hidden: ReadonlySet<string> = noFields,
): JsonObject {
  const isShown = ({ name }: Field) => isDescribed(table.className, name) && (name === 'password' || !hidden.has(name));
  const described = [...table.fields.values()].filter(isShown);
  const record: Record<string, unknown> = {
    className: table.className,
    fields: Object.fromEntries(described.map((field) => [field.name, describeField(field, labels)])),
    classLevelPermissions: describePermissions(table.permissions),
  };
  if (table.indexes.size > 0)
    record.indexes = Object.fromEntries(Array.from(table.indexes.values(), ({ name, keys }) => [name, Object.fromEntries(keys)]));
  if (table.timeline) record.timeline = table.timeline;
  return record as JsonObject;
}

function describeField(field: Field, labels: FieldLabels): JsonObject {
  const described: JsonObject = { type: field.type };
  if (field.targetClass !== undefined) described.targetClass = field.targetClass;
  const label = labels.get(field.name);
  if (label !== undefined) described.dictionary = label;
  return described;
}

function describePermissions(permissions: ClassLevelPermissions): unknown {
  return { ...Object.fromEntries(shownActions.map((action) => [action, {}])), ...permissions };
}
