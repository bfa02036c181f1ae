import { renameFields, retypeField } from './changed-fields.ts';
import { defaultFields, newTable } from './defaults.ts';
import { withoutFormer } from './former-names.ts';
import {
  type ClassLevelPermissions,
  type Field,
  type FieldOptions,
  type FieldType,
  fieldOf,
  optionsOf,
  type Schema,
  type TableIndex,
  type TableSchema,
  type TimelineSettings,
  tableOf,
  type UniqueIndex,
} from './model.ts';
import { referencesOf } from './references.ts';
import { fillingIndex } from './search-index.ts';
import { freeName, sqlNamesOf } from './sql-names.ts';
import { TableGrowth } from './table-growth.ts';
import { type TemplateVersionChange, versionsAfter, versionsOf } from './template-version.ts';

/** A field to add. */
export type NewField = Pick<Field, 'name' | 'type' | 'targetClass' | keyof FieldOptions>;

/** A schema change that a writer requests. `applyChanges` applies changes in memory, engines in SQL, step by step (`stepsOf`). */
export type SchemaChange =
  /** `fields`: beside the default ones; a table with its fields is created by one statement. */
  | { readonly kind: 'createTable'; readonly className: string; readonly fields?: readonly NewField[] }
  /** `withRecords`: also if it has records. Otherwise engines refuse that. */
  | { readonly kind: 'dropTable'; readonly className: string; readonly withRecords?: true }
  | ({
      readonly kind: 'addField';
      readonly className: string;
      readonly name: string;
      readonly type: FieldType;
      readonly targetClass?: string;
    } & FieldOptions)
  | { readonly kind: 'dropField'; readonly className: string; readonly name: string }
  /** Keeps the column. What permissions and settings say of the name is changed by others (definition-renames.ts). */
  | { readonly kind: 'renameField'; readonly className: string; readonly name: string; readonly to: string }
  /** Converts the values of a field to another type, in a copy of the table (`TableSchema.sqlName`). Engines refuse values that cannot be converted. */
  | {
      readonly kind: 'retypeField';
      readonly className: string;
      readonly name: string;
      readonly type: FieldType;
      readonly targetClass?: string;
      /** What happens to values that cannot be converted; a required field refuses them anyway. */
      readonly onError: 'refuse' | 'null';
    }
  /** Replaces all options of a field. Engines refuse a requirement that records do not meet. */
  | { readonly kind: 'setFieldOptions'; readonly className: string; readonly name: string; readonly options: FieldOptions }
  | { readonly kind: 'setPermissions'; readonly className: string; readonly permissions: ClassLevelPermissions }
  | { readonly kind: 'setTimeline'; readonly className: string; readonly timeline: TimelineSettings | null }
  /** Logs will hold values of its records (`TableSchema.isCopied`). */
  | { readonly kind: 'setCopied'; readonly className: string }
  | { readonly kind: 'setIndex'; readonly className: string; readonly index: TableIndex }
  | { readonly kind: 'dropIndex'; readonly className: string; readonly name: string }
  /** A new index; engines refuse one that records contradict. */
  | { readonly kind: 'setUniqueIndex'; readonly className: string; readonly index: UniqueIndex }
  | { readonly kind: 'dropUniqueIndex'; readonly className: string; readonly name: string }
  /** The search index, which was being filled, now holds all records. */
  | { readonly kind: 'completeSearchIndex'; readonly className: string }
  | { readonly kind: 'setTextIndex'; readonly className: string; readonly fields: readonly string[] }
  /** `TableSchema.formerNames` and `loggedNames`, replaced as a whole. */
  | {
      readonly kind: 'setFormerNames';
      readonly className: string;
      readonly names: ReadonlyArray<readonly [former: string, name: string]>;
      readonly logged: ReadonlyArray<readonly [name: string, former: readonly string[]]>;
    }
  | TemplateVersionChange;

/** Changes applied together: consecutive ones of one kind, about fields of one table, are one step, instead of a copy of the schema for each. */
export type SchemaStep =
  | Exclude<SchemaChange, { kind: 'addField' | 'dropField' | 'renameField' | 'setFieldOptions' }>
  | { readonly kind: 'addFields'; readonly className: string; readonly fields: readonly NewField[] }
  | { readonly kind: 'dropFields'; readonly className: string; readonly names: readonly string[] }
  /** `names`: new names by the former ones, of which none is new too. */
  | { readonly kind: 'renameFields'; readonly className: string; readonly names: ReadonlyMap<string, string> }
  | { readonly kind: 'setFieldsOptions'; readonly className: string; readonly options: ReadonlyMap<string, FieldOptions> };

/** The schema of a system without tables. */
export const emptySchema: Schema = schemaOf({ version: 0, tables: new Map() });

/** Creates a schema. Its references are computed on first use, since most intermediate schemas never need them. */
export function schemaOf(parts: Omit<Schema, 'referencesTo'>): Schema {
  let references: Schema['referencesTo'] | undefined;
  return {
    ...parts,
    get referencesTo() {
      references ??= referencesOf(parts.tables);
      return references;
    },
  };
}

/** Groups changes into steps, in their order. */
export function stepsOf(changes: readonly SchemaChange[]): SchemaStep[] {
  const steps: SchemaStep[] = [];
  for (let start = 0, end = 0; start < changes.length; start = end) {
    end = endOfStep(changes, start);
    steps.push(stepOf(changes.slice(start, end)));
  }
  return steps;
}

function endOfStep(changes: readonly SchemaChange[], start: number): number {
  const first = changes[start] as SchemaChange;
  if (!isJoined(first)) return start + 1;
  /** Of renames, which take effect at once in a step. */
  const names = new Set<string>();
  let end = start;
  for (; end < changes.length; end++) {
    const change = changes[end] as SchemaChange;
    if (change.kind !== first.kind || !('className' in change && 'className' in first && change.className === first.className))
      break;
    if (change.kind !== 'renameField') continue;
    if (names.has(change.name) || names.has(change.to)) break;
    names.add(change.name).add(change.to);
  }
  return end;
}

const isJoined = ({ kind }: SchemaChange) =>
  kind === 'addField' || kind === 'dropField' || kind === 'renameField' || kind === 'setFieldOptions';

type Of<Kind extends SchemaChange['kind']> = readonly Extract<SchemaChange, { kind: Kind }>[];

/** Returns the step of changes that are one. */
function stepOf(changes: readonly SchemaChange[]): SchemaStep {
  const first = changes[0] as SchemaChange;
  switch (first.kind) {
    case 'addField': {
      const fields = (changes as Of<'addField'>).map(({ kind: _, className: __, ...field }) => field);
      return { kind: 'addFields', className: first.className, fields };
    }
    case 'dropField':
      return { kind: 'dropFields', className: first.className, names: (changes as Of<'dropField'>).map(({ name }) => name) };
    case 'renameField': {
      const names = new Map((changes as Of<'renameField'>).map(({ name, to }) => [name, to]));
      return { kind: 'renameFields', className: first.className, names };
    }
    case 'setFieldOptions': {
      const options = new Map((changes as Of<'setFieldOptions'>).map(({ name, options }) => [name, options]));
      return { kind: 'setFieldsOptions', className: first.className, options };
    }
    default:
      return first;
  }
}

/** Returns the schema after several changes. @throws Error as `applyStep` */
export function applyChanges(schema: Schema, changes: readonly SchemaChange[]): Schema {
  return applySteps(schema, stepsOf(changes));
}

/** Returns the schema after one change. @throws Error as `applyStep` */
export function applyChange(schema: Schema, change: SchemaChange): Schema {
  return applyChanges(schema, [change]);
}

/**
 * Returns the schema after a step. Pure. Callers check first that the step fits and report errors to the client.
 * @throws Error if it does not fit, which is a bug
 */
export const applyStep = (schema: Schema, change: SchemaStep): Schema => applySteps(schema, [change]);

/** The tables, and the names that are taken, are copied once, not for each step: there may be thousands of tables. */
function applySteps(schema: Schema, steps: readonly SchemaStep[]): Schema {
  if (steps.length === 0) return schema;
  let versions = versionsOf(schema);
  const tables = new Map(schema.tables);
  let names: ReadonlyMap<string, TableSchema> | null = schema.tables;
  let taken: Set<string> | null = null;
  for (const step of steps)
    if (step.kind === 'setTemplateVersion') versions = versionsAfter(versions, step);
    else if (step.kind === 'createTable') {
      const { className, fields = [] } = step;
      // A copy, since names are kept by map.
      taken ??= new Set(sqlNamesOf(names ?? new Map(tables)));
      const growth = new TableGrowth(createdTable({ tables }, className, taken));
      for (const field of fields) growth.add(field);
      tables.set(className, growth.table);
      taken.add(growth.table.sqlName.toLowerCase());
    } else if (step.kind === 'dropTable') {
      tables.delete(step.className);
      // Its name is free again.
      names = null;
      taken = null;
    } else tables.set(step.className, changeTable(tableOf({ tables }, step.className), step));
  return schemaOf({
    version: schema.version + steps.length,
    ...versions,
    tables,
  });
}

/**
 * Returns a new table with the default fields only.
 * @param taken SQL names that it must not get; left out: those of the schema
 * @throws Error if it exists, which is a bug
 */
export function createdTable({ tables }: Pick<Schema, 'tables'>, className: string, taken = sqlNamesOf(tables)): TableSchema {
  if (tables.has(className)) throw new Error(`table ${className} exists`);
  return newTable(className, freeName(`t_${className}`, taken));
}

const removals: ReadonlySet<SchemaStep['kind']> = new Set([
  'retypeField',
  'dropTable',
  'dropFields',
  'renameFields',
  'setTextIndex',
]);

/** Whether a step removes something that a planned read may use. */
export function takesAway({ kind }: SchemaStep): boolean {
  return removals.has(kind);
}

type TableChange = Exclude<SchemaStep, { kind: 'createTable' | 'dropTable' | 'setTemplateVersion' }>;

function changeTable(table: TableSchema, change: TableChange): TableSchema {
  switch (change.kind) {
    case 'addFields': {
      const growth = new TableGrowth(table);
      for (const field of change.fields) growth.add(field);
      const added = new Set(change.fields.map(({ name }) => name));
      return { ...growth.table, formerNames: withoutFormer(table, (former) => added.has(former)) };
    }
    case 'dropFields': {
      const dropped = new Set(change.names);
      const fields = new Map([...table.fields].filter(([name]) => !dropped.has(name)));
      const indexes = new Map([...table.indexes].filter(([, { keys }]) => !keys.some(([name]) => dropped.has(name))));
      const uniqueIndexes = new Map(
        [...table.uniqueIndexes].filter(([, index]) => !index.fields.some((name) => dropped.has(name))),
      );
      const formerNames = withoutFormer(table, (_, name) => dropped.has(name));
      const textIndex = table.textIndex.filter((name) => !dropped.has(name));
      return { ...table, fields, indexes, uniqueIndexes, formerNames, textIndex };
    }
    case 'renameFields':
      return renameFields(table, change.names);
    case 'retypeField':
      return retypeField(table, change);
    case 'setFieldsOptions': {
      const fields = new Map(table.fields);
      for (const [name, options] of change.options) {
        const { required: _, defaultValue: __, ...field } = fieldOf(table, name);
        fields.set(name, { ...field, ...optionsOf(options) });
      }
      return { ...table, fields };
    }
    case 'setPermissions':
      return { ...table, permissions: change.permissions };
    case 'setTimeline': {
      const { timeline: _, ...rest } = table;
      return change.timeline ? { ...rest, timeline: change.timeline, isCopied: true } : rest;
    }
    case 'setCopied':
      return { ...table, isCopied: true };
    case 'setIndex':
      return { ...table, indexes: new Map(table.indexes).set(change.index.name, change.index) };
    case 'dropIndex': {
      const indexes = new Map(table.indexes);
      indexes.delete(change.name);
      return { ...table, indexes };
    }
    case 'setUniqueIndex':
      return { ...table, uniqueIndexes: new Map(table.uniqueIndexes).set(change.index.name, change.index) };
    case 'dropUniqueIndex': {
      const uniqueIndexes = new Map(table.uniqueIndexes);
      uniqueIndexes.delete(change.name);
      return { ...table, uniqueIndexes };
    }
    case 'completeSearchIndex': {
      const index = fillingIndex(table);
      if (!index) throw new Error(`${table.className} has no index that is being filled`);
      const { isFilling: _, ...complete } = index;
      return { ...table, indexes: new Map(table.indexes).set(index.name, complete) };
    }
    case 'setTextIndex':
      return { ...table, textIndex: change.fields };
    case 'setFormerNames':
      return { ...table, formerNames: new Map(change.names), loggedNames: new Map(change.logged) };
  }
}

/** Whether a field is one of those that every table has and that cannot be dropped. */
export function isDefaultField(name: string): boolean {
  return defaultFields.has(name);
}
