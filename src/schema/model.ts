import { fail } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';

/** The types of SPEC "Wire types", as the schema endpoints spell them. */
export const fieldTypes = [
  'String',
  'Number',
  'Boolean',
  'Date',
  'Pointer',
  'Relation',
  'File',
  'PrivateFile',
  'Array',
  'Object',
  'HTML/XML',
  'ACL',
] as const;
export type FieldType = (typeof fieldTypes)[number];

/** Whether values of a type are Files. */
export const isFileType = (type: FieldType): type is 'File' | 'PrivateFile' => type === 'File' || type === 'PrivateFile';

/** A field of a table. Immutable. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** Pointer and Relation only. */
  readonly targetClass?: string;
  /**
   * The SQL column that holds it (a Relation: the join table). Usually the name itself; another where SQL would fold two names together.
   */
  readonly column: string;
}

/** What one entity (`role:<Name>`, `requiresAuthentication`, `*`, a user id) may do; SPEC "Schema record". */
export type Grants = Readonly<Record<string, boolean | readonly string[]>>;
/** What class-level permissions speak of; SPEC "Schema record". */
export const clpActions = ['find', 'get', 'count', 'create', 'update', 'delete', 'addField'] as const;
export type ClpAction = (typeof clpActions)[number];

/** Class-level permissions as stored and as shown. An empty or missing map means nobody. */
export interface ClassLevelPermissions {
  readonly find?: Grants;
  readonly get?: Grants;
  readonly count?: Grants;
  readonly create?: Grants;
  readonly update?: Grants;
  readonly delete?: Grants;
  readonly addField?: Grants;
  readonly protectedFields?: Readonly<Record<string, readonly string[]>>;
  readonly readUserFields?: readonly string[];
  readonly writeUserFields?: readonly string[];
}

/** An index that the schema endpoints define. */
export interface TableIndex {
  readonly name: string;
  /** Field names in order, 1 ascending, -1 descending. */
  readonly keys: ReadonlyArray<readonly [field: string, direction: 1 | -1]>;
  /** Of a search index: records that were there before are not all in it yet (`Store.fillSearchIndex`). No search uses it. */
  readonly isFilling?: true;
}

/** Whether an index is the service's own: no name that a client gives begins so. */
export const isOwnIndex = (name: string): boolean => name.startsWith('~');

/** SPEC "Schema record": present on tables with the timeline on. */
export interface TimelineSettings {
  readonly displayFields: Readonly<Record<string, unknown>>;
  readonly index: Readonly<Record<string, unknown>>;
}

/** A table ("class") of one system. Immutable: a change makes a new one. */
export interface TableSchema {
  readonly className: string;
  /** The SQL table that holds its records. */
  readonly sqlName: string;
  /** By name; the default fields first. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly permissions: ClassLevelPermissions;
  readonly timeline?: TimelineSettings;
  /** Logs may have values of its records (docs/adr/0016): its timeline is or was on, or a trigger wrote of them. Never taken back. */
  readonly isCopied?: true;
  readonly indexes: ReadonlyMap<string, TableIndex>;
  /** Names of the fields that `$text` searches; empty where there is no text index. */
  readonly textIndex: readonly string[];
}

/** A field of some table that points at a class: the delete guard and the deletion of join rows ask for these. */
export interface Reference {
  readonly table: TableSchema;
  readonly field: Field;
}

/** All tables of a system at one moment. Immutable; a write that changes it swaps in a new one. */
export interface Schema {
  readonly version: number;
  /** Up to which version the service's own tables have what the template asks for (systems/migrations); left out: before versions. */
  readonly templateVersion?: number;
  readonly tables: ReadonlyMap<string, TableSchema>;
  /** Pointer and Relation fields by target class. */
  readonly referencesTo: ReadonlyMap<string, readonly Reference[]>;
}

/** `Pointer<Accounts>`, `String`, ...: the spelling of 111 messages. */
export function typeText(type: string, targetClass?: string): string {
  return targetClass === undefined ? type : `${type}<${targetClass}>`;
}

/** A table that every system has. @throws Error where it is missing, which is a fault of ours */
export function tableOf(schema: Schema, className: string): TableSchema {
  const table = schema.tables.get(className);
  if (!table) throw new Error(`table ${className} is missing`);
  return table;
}

/** A field that a table has. @throws Error where it has none, which is a fault of ours */
export function fieldOf(table: TableSchema, name: string): Field {
  const field = table.fields.get(name);
  if (!field) throw new Error(`field ${table.className}.${name} is missing`);
  return field;
}

const className = /^[A-Za-z_][A-Za-z0-9_]*$/;
const fieldName = /^[A-Za-z][A-Za-z0-9_]*$/;
const reserved: ReadonlySet<string> = new Set(['constructor', 'prototype', '__proto__', 'length', 'className']);

/** CONTRACT "Records": a letter or underscore first, then letters, digits, underscore. @throws invalidClassName */
export function checkClassName(name: string): void {
  if (name.length > limits.nameLength || !className.test(name) || name === '__proto__' || name === 'constructor')
    fail('invalidClassName', name.slice(0, limits.nameLength));
}

/** SPEC "Errors" 105: letters, digits, underscore. For names that a client brings; fields of the schema are looked up first. @throws invalidFieldName */
export function checkFieldName(name: string): void {
  if (name.length > limits.nameLength || !fieldName.test(name) || reserved.has(name))
    fail('invalidFieldName', name.slice(0, limits.nameLength));
}

/** Keys that no object of a request may have at any depth, since some reader would take them for the object's own machinery. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The field that a dotted name speaks of: `a` in `a.b.c`. */
export function rootOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}
