import { fail } from '../errors/fail.ts';
import type { JsonValue } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';

/** The wire types, as the schema endpoints spell them. Reference: types.md#wire-types. */
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

/** What a table requires of a field's values beside their type. Reference: schemas.md#required-fields-and-defaults. */
export interface FieldOptions {
  /** Every record must have a value: neither `null` nor the empty text. */
  readonly required?: true;
  /** The value of created records that leave the field out, as on the wire. Never `null`. */
  readonly defaultValue?: JsonValue;
}

/** A field of a table. Immutable. */
export interface Field extends FieldOptions {
  readonly name: string;
  readonly type: FieldType;
  /** Pointer and Relation only. */
  readonly targetClass?: string;
  /** The SQL column that holds it (for a Relation: the join table). Usually the name itself; another if SQL would treat two names as equal. */
  readonly column: string;
}

/**
 * The entities (`role:<Name>`, `requiresAuthentication`, `*`, a user id) that an action is granted to. Reference: permissions.md#table-permissions.
 */
export type Grants = Readonly<Record<string, boolean | readonly string[]>>;
/** The actions of class-level permissions. Reference: permissions.md#table-permissions. */
export const clpActions = ['find', 'get', 'count', 'create', 'update', 'delete', 'addField'] as const;
export type ClpAction = (typeof clpActions)[number];

/** Class-level permissions as stored and as shown. An empty or missing map grants the action to keys only. */
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
  /** Of a search index: it does not hold all existing records yet (`Store.fillSearchIndex`), and searches do not use it. */
  readonly isFilling?: true;
}

/** How a unique index compares texts: byte by byte, regardless of case, or as phone numbers (`phoneKey`). */
export const uniqueForms = ['text', 'nocase', 'phone'] as const;
export type UniqueForm = (typeof uniqueForms)[number];

/** An index under which no two records may have equal values. Reference: schemas.md#unique-indexes. */
export interface UniqueIndex {
  readonly name: string;
  /** Records are compared by the combination of these. A record that lacks a value of one contradicts no other. */
  readonly fields: readonly string[];
  /** Left out: `text`. */
  readonly as?: Exclude<UniqueForm, 'text'>;
}

/** Whether two unique indexes of a table are one. */
export const isSameIndex = (one: UniqueIndex | undefined, other: UniqueIndex): boolean =>
  one !== undefined &&
  one.name === other.name &&
  one.as === other.as &&
  JSON.stringify(one.fields) === JSON.stringify(other.fields);

/** Whether an index is the service's own: no name that a client may choose begins with `~`. */
export const isOwnIndex = (name: string): boolean => name.startsWith('~');

/** Present on tables with the timeline on. Reference: schemas.md#timeline-settings. */
export interface TimelineSettings {
  readonly displayFields: Readonly<Record<string, unknown>>;
  readonly index: Readonly<Record<string, unknown>>;
}

/** A table ("class") of one system. Immutable: a change creates a new object. */
export interface TableSchema {
  readonly className: string;
  /** The SQL table that holds its records. */
  readonly sqlName: string;
  /** By name; the default fields first. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly permissions: ClassLevelPermissions;
  readonly timeline?: TimelineSettings;
  /** Logs may have values of its records (adr/0016): its timeline is or was on, or a trigger copied from them. Never reset. */
  readonly isCopied?: true;
  readonly indexes: ReadonlyMap<string, TableIndex>;
  readonly uniqueIndexes: ReadonlyMap<string, UniqueIndex>;
  /** Names of the fields that `$text` searches; empty if there is no text index. */
  readonly textIndex: readonly string[];
  /** The present names of renamed fields, by their former names (former-names.ts). No key is the name of a field, every value is. */
  readonly formerNames: ReadonlyMap<string, string>;
  /** Names under which logs may have values of a field, by its present name: all that it ever had. Kept when the field goes, or a name is used again. */
  readonly loggedNames: ReadonlyMap<string, readonly string[]>;
}

/** A field of some table that points at a class; used by the delete guard and the deletion of join rows. */
export interface Reference {
  readonly table: TableSchema;
  readonly field: Field;
}

/** All tables of a system at one moment. Immutable; a write that changes it replaces it. */
export interface Schema {
  readonly version: number;
  /** The template version that the service's own tables match (systems/migrations); left out: older than versioning. */
  readonly templateVersion?: number;
  /** The template version that a process must know at least to use the system; left out: `templateVersion`. */
  readonly requiredVersion?: number;
  readonly tables: ReadonlyMap<string, TableSchema>;
  /** Pointer and Relation fields by target class. */
  readonly referencesTo: ReadonlyMap<string, readonly Reference[]>;
}

/** Returns the options of a field alone. */
export function optionsOf({ required, defaultValue }: FieldOptions): FieldOptions {
  return { ...(required && { required }), ...(defaultValue !== undefined && { defaultValue }) };
}

/** Whether a field has options. */
export const hasOptions = ({ required, defaultValue }: FieldOptions): boolean => required === true || defaultValue !== undefined;

/** Returns `Pointer<Accounts>`, `String`, …: the spelling in messages of code 111. */
export function typeText(type: string, targetClass?: string): string {
  return targetClass === undefined ? type : `${type}<${targetClass}>`;
}

/** Returns a table that every system has. @throws Error if it is missing, which is a bug */
export function tableOf(schema: Pick<Schema, 'tables'>, className: string): TableSchema {
  const table = schema.tables.get(className);
  if (!table) throw new Error(`table ${className} is missing`);
  return table;
}

/** Returns a field that a table must have. @throws Error if it is missing, which is a bug */
export function fieldOf(table: TableSchema, name: string): Field {
  const field = table.fields.get(name);
  if (!field) throw new Error(`field ${table.className}.${name} is missing`);
  return field;
}

const className = /^[A-Za-z_][A-Za-z0-9_]*$/;
const fieldName = /^[A-Za-z][A-Za-z0-9_]*$/;
const reserved: ReadonlySet<string> = new Set(['constructor', 'prototype', '__proto__', 'length', 'className']);

/** Checks the naming rule: a letter or underscore first, then letters, digits, underscore (types.md#names). @throws invalidClassName */
export function checkClassName(name: string): void {
  if (name.length > limits.nameLength || !className.test(name) || name === '__proto__' || name === 'constructor')
    fail('invalidClassName', name.slice(0, limits.nameLength));
}

/**
 * Checks the naming rule of new fields: a letter first, then letters, digits, underscore (types.md#names). Fields of the schema are looked up before.
 * @throws invalidFieldName
 */
export function checkFieldName(name: string): void {
  if (name.length > limits.nameLength || !fieldName.test(name) || reserved.has(name))
    fail('invalidFieldName', name.slice(0, limits.nameLength));
}

/** Keys that no object of a request may have at any depth, because JavaScript code could take them for prototype members. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Returns the field of a dotted name: `a` of `a.b.c`. */
export function rootOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}
