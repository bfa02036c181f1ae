import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { applyChanges, emptySchema, isDefaultField, type SchemaChange, schemaOf } from './change.ts';
import { recordRenames } from './former-names.ts';
import { type ClassLevelPermissions, checkFieldName, type Grants, rootOf, type TableSchema } from './model.ts';
import { clientIndexes, SEARCH_INDEX, searchRole } from './search-index.ts';
import { derivedFieldsOf, fixedType, isSystemField } from './system-tables.ts';

/** New names of fields, by their present names. */
export type FieldRenames = ReadonlyMap<string, string>;

const RENAME = 'Rename';

/**
 * Splits a schema body into the renames of fields, `{Old: {__op: "Rename", to: "New"}}`, and the rest.
 * Reference: schemas.md#rename-a-field.
 * @throws badSchema (107) for a rename without a new name
 */
export function takeRenames(body: JsonObject): { readonly renames: FieldRenames; readonly rest: JsonObject } {
  const fields = own(body, 'fields');
  const renames = new Map<string, string>();
  if (!isJsonObject(fields)) return { renames, rest: body };
  const others: [string, JsonValue][] = [];
  for (const [name, definition] of Object.entries(fields)) {
    if (isJsonObject(definition) && own(definition, '__op') === RENAME) renames.set(name, newNameIn(name, definition));
    else others.push([name, definition]);
  }
  return { renames, rest: renames.size === 0 ? body : { ...body, fields: Object.fromEntries(others) } };
}

function newNameIn(name: string, definition: JsonObject): string {
  for (const key of Object.keys(definition))
    if (key !== '__op' && key !== 'to') fail('badSchema', `field ${name}: ${key} is not a key of a rename`);
  const to = own(definition, 'to');
  return typeof to === 'string' ? to : fail('badSchema', `field ${name}: to must be the new name`);
}

/**
 * Plans renames of fields, with all that the schema itself says of them: permissions and timeline settings. All take effect at once, so a name that the
 * table has is taken even if the same body takes it away. Pure. Reference: schemas.md#rename-a-field.
 * @throws fieldCannotBeChanged (136), invalidFieldName, fieldNameTaken (105), schemaOperation (255)
 */
export function planRenames(table: TableSchema, renames: FieldRenames): SchemaChange[] {
  if (renames.size === 0) return [];
  const { className } = table;
  checkRenames(table, renames);
  const changes: SchemaChange[] = [...renames].map(([name, to]) => ({ kind: 'renameField', className, name, to }));
  const renamed = afterChanges(table, changes);
  const permissions = renamedPermissions(table.permissions, renames);
  if (permissions !== table.permissions) changes.push({ kind: 'setPermissions', className, permissions });
  const timeline = table.timeline && renamedSettings(table.timeline, renames);
  if (timeline && timeline !== table.timeline) changes.push({ kind: 'setTimeline', className, timeline });
  if (changesSearch(table, renames)) changes.push({ kind: 'dropIndex', className, name: SEARCH_INDEX });
  return [...changes, recordRenames(renamed, renames)];
}

/** Whether a field has another role in searches by its new name: its words are others, and the service builds the search index again. */
const changesSearch = ({ indexes, fields }: TableSchema, renames: FieldRenames): boolean =>
  (indexes.get(SEARCH_INDEX)?.keys ?? []).some(([name]) => {
    const [field, to] = [fields.get(name), renames.get(name)];
    return field !== undefined && to !== undefined && searchRole({ ...field, name: to }) !== searchRole(field);
  });

/** Returns a table after changes to it alone. */
export function afterChanges(table: TableSchema, changes: readonly SchemaChange[]): TableSchema {
  const alone = schemaOf({ ...emptySchema, tables: new Map([[table.className, table]]) });
  return applyChanges(alone, changes).tables.get(table.className) ?? table;
}

/** Maximum former names that the service knows of the fields of a table. None is forgotten: rows of logs have them. */
export const MAX_FORMER_NAMES = 10_000;

function checkRenames({ className, fields, loggedNames }: TableSchema, renames: FieldRenames): void {
  const known = loggedNames.values().reduce((sum, names) => sum + names.length, 0);
  if (known + renames.size > MAX_FORMER_NAMES)
    fail('schemaOperation', `${className} may have ${MAX_FORMER_NAMES} former names of fields.`);
  const isOwn = (name: string) => isSystemField(className, name) || derivedFieldsOf(className).has(name);
  const taken = new Set(fields.keys());
  for (const [name, to] of renames) {
    if (isDefaultField(name) || isOwn(name)) fail('fieldCannotBeChanged', name);
    const field = fields.get(name) ?? fail('schemaOperation', `Field ${name} does not exist, cannot rename.`);
    checkFieldName(to);
    if (taken.has(to)) fail('fieldNameTaken', to);
    if (isOwn(to)) fail('fieldCannotBeChanged', to);
    const settled = fixedType(className, to);
    if (settled && field.type !== settled) fail('schemaOperation', `Field ${to} of ${className} can only be a ${settled}.`);
    taken.add(to);
  }
}

const userField = 'userField:';

function renamedPermissions(permissions: ClassLevelPermissions, renames: FieldRenames): ClassLevelPermissions {
  const nameOf = (name: string) => renames.get(name) ?? name;
  const listOf = (names: readonly string[]) => names.map(nameOf);
  const parts = Object.entries(permissions).map(([part, rule]) => {
    if (Array.isArray(rule)) return [part, listOf(rule)];
    if (part === 'protectedFields') return [part, renamedLists(rule as Record<string, readonly string[]>, nameOf)];
    const grants = Object.entries(rule as Grants).map(([entity, given]) => [
      entity,
      typeof given === 'boolean' ? given : listOf(given),
    ]);
    return [part, Object.fromEntries(grants)];
  });
  const renamed = Object.fromEntries(parts) as ClassLevelPermissions;
  return JSON.stringify(renamed) === JSON.stringify(permissions) ? permissions : renamed;
}

/** The keys of `protectedFields` may name a field: `userField:<field>`. */
function renamedLists(lists: Readonly<Record<string, readonly string[]>>, nameOf: (name: string) => string) {
  return Object.fromEntries(
    Object.entries(lists).map(([entity, names]) => [
      entity.startsWith(userField) ? `${userField}${nameOf(entity.slice(userField.length))}` : entity,
      names.map(nameOf),
    ]),
  );
}

/** The keys of timeline settings are names of fields, dotted ones too. */
function renamedSettings(timeline: NonNullable<TableSchema['timeline']>, renames: FieldRenames) {
  const { displayFields, index } = timeline;
  const renamed = { displayFields: renamedKeys(displayFields, renames), index: renamedKeys(index, renames) };
  return JSON.stringify(renamed) === JSON.stringify({ displayFields, index }) ? timeline : renamed;
}

function renamedKeys(settings: Readonly<Record<string, unknown>>, renames: FieldRenames): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const root = rootOf(name);
      return [`${renames.get(root) ?? root}${name.slice(root.length)}`, value];
    }),
  );
}

/** Returns what renames changed in the schema of a table, for the answer. Reference: schemas.md#rename-a-field. */
export function schemaPartsRenamed(before: TableSchema, renames: FieldRenames): JsonObject {
  if (renames.size === 0) return {};
  const indexes = clientIndexes(before).filter(({ keys }) => keys.some(([name]) => renames.has(name)));
  const unique = [...before.uniqueIndexes.values()].filter(({ fields }) => fields.some((name) => renames.has(name)));
  const permissions = renamedPermissions(before.permissions, renames);
  const parts = Object.keys(permissions)
    .filter((part) => partOf(permissions, part) !== partOf(before.permissions, part))
    .sort();
  return {
    ...(indexes.length > 0 && { indexes: indexes.map(({ name }) => name) }),
    ...(unique.length > 0 && { uniqueIndexes: unique.map(({ name }) => name) }),
    ...(before.textIndex.some((name) => renames.has(name)) && { textIndex: true }),
    ...(parts.length > 0 && { permissions: parts }),
    ...(before.timeline && renamedSettings(before.timeline, renames) !== before.timeline && { timeline: true }),
  };
}

const partOf = (permissions: ClassLevelPermissions, part: string): string =>
  JSON.stringify(permissions[part as keyof ClassLevelPermissions]);
