import type { JsonObject } from '../kernel/json.ts';
import { type ClassLevelPermissions, type Field, type Grants, rootOf, type TableSchema } from './model.ts';
import { shownActions } from './permissions.ts';
import { clientIndexes } from './search-index.ts';
import { isDescribed } from './system-tables.ts';

/** Labels of a table's fields, by field name. */
export type FieldLabels = ReadonlyMap<string, string>;

const noLabels: FieldLabels = new Map();

/** A table as clients read it (SPEC "Schema record"). */
export type SchemaRecord = JsonObject & { className: string };

/** What is not shown of a schema. */
interface Hiding {
  readonly hiddenFields: ReadonlySet<string>;
  /** Whether it shows what is hidden from whom. */
  readonly tellsOfHiding: boolean;
}

const nothing: Hiding = { hiddenFields: new Set(), tellsOfHiding: true };

/**
 * The schema record of a table (SPEC "Schema record"). Which fields have a text index is not shown (SPEC "Schemas").
 * @param labels shown as `dictionary`; fields without one show none
 * @param hiding what the caller is not shown; a field is named nowhere then
 */
export function describeTable(
  table: TableSchema,
  labels: FieldLabels = noLabels,
  { hiddenFields, tellsOfHiding }: Hiding = nothing,
): SchemaRecord {
  const isSeen = (name: string) => name === 'password' || !hiddenFields.has(name);
  const described = [...table.fields.values()].filter(({ name }) => isDescribed(table.className, name) && isSeen(name));
  const record: Record<string, unknown> = {
    className: table.className,
    fields: Object.fromEntries(described.map((field) => [field.name, describeField(field, labels)])),
    classLevelPermissions: describePermissions(table.permissions, isSeen, tellsOfHiding),
  };
  const indexes = clientIndexes(table).filter(({ keys }) => keys.every(([field]) => isSeen(field)));
  if (indexes.length > 0) record.indexes = Object.fromEntries(indexes.map(({ name, keys }) => [name, Object.fromEntries(keys)]));
  if (table.timeline) {
    const { displayFields, index } = table.timeline;
    record.timeline = { displayFields: seenKeys(displayFields, isSeen), index: seenKeys(index, isSeen) };
  }
  return record as SchemaRecord;
}

function describeField(field: Field, labels: FieldLabels): JsonObject {
  const described: JsonObject = { type: field.type };
  if (field.targetClass !== undefined) described.targetClass = field.targetClass;
  const label = labels.get(field.name);
  if (label !== undefined) described.dictionary = label;
  return described;
}

type IsSeen = (field: string) => boolean;

const seenKeys = (settings: Readonly<Record<string, unknown>>, isSeen: IsSeen): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(settings).filter(([field]) => isSeen(rootOf(field))));

function describePermissions(
  { protectedFields, ...permissions }: ClassLevelPermissions,
  isSeen: IsSeen,
  tellsOfHiding: boolean,
): unknown {
  return {
    ...Object.fromEntries(shownActions.map((action) => [action, {}])),
    ...Object.fromEntries(Object.entries(permissions).map(([name, rule]) => [name, withoutUnseen(rule, isSeen)])),
    ...(protectedFields && tellsOfHiding && { protectedFields }),
  };
}

/** `readUserFields` and `writeUserFields` are names of fields, and so are the `pointerFields` of an action. */
function withoutUnseen(rule: Grants[string] | Grants, isSeen: IsSeen): unknown {
  if (typeof rule === 'boolean') return rule;
  if (isNames(rule)) return rule.filter(isSeen);
  return Object.fromEntries(Object.entries(rule).map(([entity, given]) => [entity, withoutUnseen(given, isSeen)]));
}

const isNames = (rule: readonly string[] | Grants): rule is readonly string[] => Array.isArray(rule);
