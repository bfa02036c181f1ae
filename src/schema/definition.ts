import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import type { NewField, SchemaChange } from './change.ts';
import { newTable } from './defaults.ts';
import { defineFields } from './definition-fields.ts';
import { defineIndexes, defineTextIndex } from './definition-indexes.ts';
import { afterChanges, planRenames, takeRenames } from './definition-renames.ts';
import { planRetypes, takeRetypes } from './definition-retypes.ts';
import { defineUniqueIndexes } from './definition-unique.ts';
import {
  checkClassName,
  checkFieldName,
  forbiddenKeys,
  optionsOf,
  type Schema,
  type TableSchema,
  type TimelineSettings,
} from './model.ts';
import { readPermissions } from './permissions.ts';
import { clientIndexes } from './search-index.ts';
import { derivedFieldsOf, isDescribed, secretFieldsOf } from './system-tables.ts';

const bodyKeys: ReadonlySet<string> = new Set([
  'className',
  'fields',
  'classLevelPermissions',
  'timeline',
  'textIndex',
  'indexes',
  'uniqueIndexes',
  // Ignored: clients send back what they read; the definitions are rows of `_Trigger`.
  'triggers',
]);

/**
 * Returns the class of a schema request: the path's, or the body's if the path has none.
 * @throws missingClassName (135), classNameMismatch (103), badSchema (107)
 */
export function definedClass(inPath: string | undefined, body: JsonObject): string {
  const inBody = own(body, 'className') ?? inPath;
  if (inBody === undefined || inBody === '') return fail('missingClassName');
  if (typeof inBody !== 'string') return fail('badSchema', 'className must be a string');
  if (inPath !== undefined && inBody !== inPath) fail('classNameMismatch', inBody, inPath);
  return inBody;
}

/**
 * Plans the changes that create a table as a body defines it. Pure. Reference: schemas.md#create-a-table.
 * @param checkName the naming rule of new fields; the service's own tables have a wider one
 * @throws invalidClassName, classExists (103), and what the parts of the body throw: badSchema (107), invalidFieldName (105),
 * invalidFieldType (111), missingClassName (135), fieldCannotBeAdded (136), invalidClp (107), schemaOperation (255)
 */
export function planTable(schema: Schema, className: string, body: JsonObject, checkName = checkFieldName): SchemaChange[] {
  checkClassName(className);
  if (schema.tables.has(className)) fail('classExists', className);
  const { fields, settings } = readDefinition(newTable(className, ''), body, checkName);
  return [{ kind: 'createTable', className, fields: fields.added }, ...settings];
}

/**
 * Plans the changes that a body makes to a table. Pure. Parts that the body leaves out stay. Reference: schemas.md#change-a-table.
 * @throws classMissing (103), fieldCannotBeChanged (136), fieldNameTaken (105), and the errors of `planTable`
 */
export function planTableChange(schema: Schema, className: string, body: JsonObject): SchemaChange[] {
  const before = schema.tables.get(className) ?? fail('classMissing', className);
  const { retypes, rest: others } = takeRetypes(body);
  const { renames, rest } = takeRenames(others);
  const renamed = planRenames(before, renames);
  const retyped = planRetypes(afterChanges(before, renamed), retypes);
  // The other parts of the body are about the table with the new names and types.
  const table = afterChanges(before, [...renamed, ...retyped]);
  const { droppedIndexes, fields, settings } = readDefinition(table, rest, checkFieldName);
  return [
    ...renamed,
    ...retyped,
    ...droppedIndexes,
    ...withFollowers(table, fields.deleted).map((name): SchemaChange => ({ kind: 'dropField', className, name })),
    ...fields.added.map((field): SchemaChange => ({ kind: 'addField', className, ...field })),
    ...fields.changed.map(
      (field): SchemaChange => ({ kind: 'setFieldOptions', className, name: field.name, options: optionsOf(field) }),
    ),
    ...settings,
  ];
}

function readDefinition(table: TableSchema, body: JsonObject, checkName: (name: string) => void) {
  for (const key of Object.keys(body)) if (!bodyKeys.has(key)) fail('badSchema', `${key} is not a key of a schema`);
  const { className } = table;
  const fields = defineFields(className, table.fields, own(body, 'fields'), checkName);
  // Secret fields cannot be in an index that a client defines.
  const indexable = new Map([...fields.after].filter(([name]) => !secretFieldsOf(className).has(name)));
  const described = new Map([...fields.after].filter(([name]) => isDescribed(className, name)));
  const indexes = defineIndexes(className, clientIndexes(table), own(body, 'indexes'), indexable, fields.deleted);
  const unique = defineUniqueIndexes(className, table.uniqueIndexes, own(body, 'uniqueIndexes'), indexable, fields.deleted);
  const settings: SchemaChange[] = [
    ...definePermissions(className, own(body, 'classLevelPermissions'), described),
    ...defineTimeline(className, own(body, 'timeline')),
    ...indexes.made,
    ...unique.made,
    ...defineTextIndex(className, own(body, 'textIndex'), indexable),
  ];
  return { droppedIndexes: [...indexes.dropped, ...unique.dropped], fields, settings };
}

/** Derived fields are deleted with their source; otherwise stale values would remain. */
function withFollowers({ className, fields }: TableSchema, deleted: ReadonlySet<string>): string[] {
  const derived = derivedFieldsOf(className);
  return [...deleted].flatMap((name) => {
    const follower = derived.get(name)?.field;
    return follower !== undefined && fields.has(follower) ? [name, follower] : [name];
  });
}

function definePermissions(
  className: string,
  body: JsonValue | undefined,
  fields: ReadonlyMap<string, NewField>,
): SchemaChange[] {
  return body === undefined ? [] : [{ kind: 'setPermissions', className, permissions: readPermissions(body, fields) }];
}

/** Parses `{displayFields: map, index: map}`; `null` turns the timeline off (schemas.md#timeline-settings). */
function defineTimeline(className: string, body: JsonValue | undefined): SchemaChange[] {
  if (body === undefined) return [];
  return [{ kind: 'setTimeline', className, timeline: body === null ? null : readTimeline(body) }];
}

function readTimeline(body: JsonValue): TimelineSettings {
  if (!isJsonObject(body)) return fail('badSchema', 'timeline must be an object or null');
  for (const key of Object.keys(body))
    if (key !== 'displayFields' && key !== 'index') fail('badSchema', `${key} is not a key of timeline`);
  return { displayFields: readMap(body, 'displayFields'), index: readMap(body, 'index') };
}

function readMap(body: JsonObject, key: string): JsonObject {
  const map = own(body, key) ?? {};
  if (!isJsonObject(map)) return fail('badSchema', `timeline.${key} must be an object`);
  for (const name of Object.keys(map)) if (forbiddenKeys.has(name)) fail('invalidFieldName', name);
  return map;
}
