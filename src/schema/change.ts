import { defaultFields, newTable } from './defaults.ts';
import type {
  ClassLevelPermissions,
  Field,
  FieldType,
  Reference,
  Schema,
  TableIndex,
  TableSchema,
  TimelineSettings,
} from './model.ts';

/** One step from a schema to the next. Engines carry each out in SQL; `applyChange` carries it out in memory. */
export type SchemaChange =
  | { readonly kind: 'createTable'; readonly className: string }
  | { readonly kind: 'dropTable'; readonly className: string }
  | { readonly kind: 'addField'; readonly className: string; readonly name: string; readonly type: FieldType; readonly targetClass?: string }
  | { readonly kind: 'dropField'; readonly className: string; readonly name: string }
  | { readonly kind: 'setPermissions'; readonly className: string; readonly permissions: ClassLevelPermissions }
  | { readonly kind: 'setTimeline'; readonly className: string; readonly timeline: TimelineSettings | null }
  | { readonly kind: 'setIndex'; readonly className: string; readonly index: TableIndex }
  | { readonly kind: 'dropIndex'; readonly className: string; readonly name: string }
  | { readonly kind: 'setTextIndex'; readonly className: string; readonly fields: readonly string[] };

export const emptySchema: Schema = { version: 0, tables: new Map(), referencesTo: new Map() };

/**
 * The schema after a change. Pure; the change must fit the schema (callers check and answer the client).
 * @throws Error when it does not fit, which is a fault of ours
 */
export function applyChange(schema: Schema, change: SchemaChange): Schema {
  const tables = new Map(schema.tables);
  if (change.kind === 'createTable') {
    if (tables.has(change.className)) throw new Error(`table ${change.className} exists`);
    tables.set(change.className, newTable(change.className, freeName(`t_${change.className}`, sqlNamesOf(tables))));
  } else if (change.kind === 'dropTable') {
    tables.delete(change.className);
  } else {
    const table = tables.get(change.className);
    if (!table) throw new Error(`table ${change.className} is missing`);
    tables.set(change.className, changeTable(table, change));
  }
  return { version: schema.version + 1, tables, referencesTo: referencesOf(tables) };
}

type TableChange = Exclude<SchemaChange, { kind: 'createTable' | 'dropTable' }>;

function changeTable(table: TableSchema, change: TableChange): TableSchema {
  switch (change.kind) {
    case 'addField':
      return { ...table, fields: withField(table, change) };
    case 'dropField': {
      const fields = new Map(table.fields);
      fields.delete(change.name);
      const indexes = new Map([...table.indexes].filter(([, index]) => !index.keys.some(([name]) => name === change.name)));
      return { ...table, fields, indexes, textIndex: table.textIndex.filter((name) => name !== change.name) };
    }
    case 'setPermissions':
      return { ...table, permissions: change.permissions };
    case 'setTimeline': {
      const { timeline: _, ...rest } = table;
      return change.timeline ? { ...rest, timeline: change.timeline } : rest;
    }
    case 'setIndex':
      return { ...table, indexes: new Map(table.indexes).set(change.index.name, change.index) };
    case 'dropIndex': {
      const indexes = new Map(table.indexes);
      indexes.delete(change.name);
      return { ...table, indexes };
    }
    case 'setTextIndex':
      return { ...table, textIndex: change.fields };
  }
}

function withField(table: TableSchema, change: Extract<SchemaChange, { kind: 'addField' }>): ReadonlyMap<string, Field> {
  if (table.fields.has(change.name)) throw new Error(`field ${change.className}.${change.name} exists`);
  const wanted = change.type === 'Relation' ? `j_${table.className}~${change.name}` : change.name;
  const taken = new Set([...table.fields.values()].map((field) => field.column.toLowerCase()));
  const field: Field = {
    name: change.name,
    type: change.type,
    column: freeName(wanted, taken),
    ...(change.targetClass === undefined ? {} : { targetClass: change.targetClass }),
  };
  return new Map(table.fields).set(field.name, field);
}

const sqlNamesOf = (tables: ReadonlyMap<string, TableSchema>) =>
  new Set([...tables.values()].map((table) => table.sqlName.toLowerCase()));

/**
 * SQL folds case and the interface does not, so `Name` and `name` need two columns. `~` cannot stand in a name of the
 * interface, so a made name meets no other.
 */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${wanted}~${n}`;
  return name;
}

/** Pointer and Relation fields by the class they point at. */
export function referencesOf(tables: ReadonlyMap<string, TableSchema>): ReadonlyMap<string, readonly Reference[]> {
  const references = new Map<string, Reference[]>();
  for (const table of tables.values())
    for (const field of table.fields.values()) {
      if (field.targetClass === undefined) continue;
      const known = references.get(field.targetClass);
      if (known) known.push({ table, field });
      else references.set(field.targetClass, [{ table, field }]);
    }
  return references;
}

/** Fields that every table has and nobody may drop. */
export function isDefaultField(name: string): boolean {
  return defaultFields.has(name);
}
