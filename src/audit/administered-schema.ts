import type { ActFacts } from '../acts/index.ts';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../kernel/json.ts';
import { applyChanges, isDefaultField, type SchemaChange } from '../schema/change.ts';
import { describeTable } from '../schema/describe.ts';
import type { Schema, TableSchema } from '../schema/model.ts';
import { fixedType } from '../schema/system-tables.ts';

/** Returns the acts that schema changes of one commit are: for each table one of its schema, and one of its permissions. */
export function schemaActs(changes: readonly SchemaChange[], schema: Schema): ActFacts[] {
  const after = applyChanges(schema, changes);
  const names = new Set(changes.flatMap((change) => ('className' in change ? change.className : [])));
  return [...names].flatMap((className) => {
    const ofTable = changes.filter((change) => 'className' in change && change.className === className);
    return tableActs(className, schema.tables.get(className), after.tables.get(className), ofTable);
  });
}

function tableActs(
  className: string,
  before: TableSchema | undefined,
  after: TableSchema | undefined,
  changes: readonly SchemaChange[],
): ActFacts[] {
  const [was, is] = [describe(before), describe(after)];
  const renamed = changes.flatMap((change) => (change.kind === 'renameField' ? [[change.name, change.to] as const] : []));
  const isOther = (before === undefined) !== (after === undefined);
  const [old, present] = [difference(was.parts, is.parts), difference(is.parts, was.parts)];
  const acts: ActFacts[] = [];
  if (isOther || old || present || renamed.length > 0)
    acts.push({
      act: 'schema',
      subject: className,
      before: before ? (old ?? {}) : null,
      after: after ? { ...present, ...(renamed.length > 0 && { renamed: Object.fromEntries(renamed) }) } : null,
    });
  if (!changes.some(({ kind }) => kind === 'setPermissions')) return acts;
  const [gone, given] = [difference(was.permissions, is.permissions), difference(is.permissions, was.permissions)];
  if (gone || given)
    acts.push({ act: 'permissions', subject: className, before: before ? (gone ?? {}) : null, after: given ?? {} });
  return acts;
}

/** A table as the log describes it; both parts are empty if there is none. */
function describe(table: TableSchema | undefined): { readonly parts: JsonObject; readonly permissions: JsonObject } {
  if (!table) return { parts: {}, permissions: {} };
  const { className: _, classLevelPermissions, ...parts } = describeTable(table);
  const { textIndex } = table;
  return {
    parts: {
      ...parts,
      fields: clientFields(table, parts.fields as JsonObject),
      ...(textIndex.length > 0 && { textIndex: [...textIndex] }),
    },
    permissions: classLevelPermissions as JsonObject,
  };
}

/** Returns the fields that somebody adds: every table has the default ones, and those of a fixed type appear with their first value. */
const clientFields = ({ className }: TableSchema, fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !isDefaultField(name) && !fixedType(className, name)));

/** Returns what of a description another one does not have or has differently, two levels deep; `null` for nothing. */
function difference(of: JsonObject, other: JsonObject): JsonObject | null {
  const kept = Object.entries(of).flatMap(([name, value]): [string, JsonValue][] => {
    const against = Object.hasOwn(other, name) ? other[name] : undefined;
    if (against !== undefined && canonicalJson(value) === canonicalJson(against)) return [];
    if (name === 'textIndex' || !isJsonObject(value) || !isJsonObject(against)) return [[name, value]];
    const members = Object.entries(value).filter(
      ([key, member]) => !Object.hasOwn(against, key) || canonicalJson(member) !== canonicalJson(against[key] as JsonValue),
    );
    return members.length > 0 ? [[name, Object.fromEntries(members)]] : [];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : null;
}
