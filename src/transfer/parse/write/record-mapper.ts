import { ServiceError } from '../../../errors/fail.ts';
import { adoptedName } from '../../../files/index.ts';
import { isJsonObject, isStorable, type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { emailKey, loginKey } from '../../../kernel/login-key.ts';
import type { NewField } from '../../../schema/change.ts';
import { defaultFields } from '../../../schema/defaults.ts';
import { type Field, isFileType } from '../../../schema/model.ts';
import { derivedFieldsOf } from '../../../schema/system-tables.ts';
import { isUsableHash } from '../../../users/index.ts';
import { type StoredValue, valueTypeOf } from '../../../values/index.ts';
import type { PlannedClass } from '../plan/plan.ts';
import type { ParseRecord } from '../source/source.ts';
import type { Findings } from './findings.ts';

/** A file referenced by an object. */
export interface NamedFile {
  /** Name in the source. */
  readonly sourceName: string;
  /** Name in this system. */
  readonly name: string;
  readonly isPrivate: boolean;
}

/** An object in stored form. */
export interface MappedRecord {
  readonly objectId: string;
  readonly values: ReadonlyMap<string, StoredValue>;
  readonly files: readonly NamedFile[];
  /** Number of characters of its texts. */
  readonly size: number;
}

/** An ACL that grants nobody access; an empty one would restrict nobody here (permissions.md#acl). */
const forNobody = '{"*":{}}';
const aclField = defaultFields.get('ACL') as Field;

/** Converts objects to stored form and records problems. Otherwise pure. */
export class RecordMapper {
  readonly #class: PlannedClass;
  readonly #findings: Findings;
  readonly #copiesFiles: boolean;
  readonly #now = Date.now();

  /** @param copiesFiles whether the bytes of files are copied */
  constructor(planned: PlannedClass, findings: Findings, copiesFiles: boolean) {
    this.#class = planned;
    this.#findings = findings;
    this.#copiesFiles = copiesFiles;
  }

  map(record: ParseRecord): MappedRecord {
    const { className } = this.#class;
    const { objectId } = record;
    const createdAt = record.createdAt ?? record.updatedAt ?? this.#now;
    const values = new Map<string, StoredValue>([
      ['objectId', objectId],
      ['createdAt', createdAt],
      ['updatedAt', record.updatedAt ?? createdAt],
    ]);
    const acl = this.#aclOf(record);
    if (acl !== null) values.set('ACL', acl);
    const files: NamedFile[] = [];
    for (const [name, value] of record.values) this.#take(values, files, objectId, name, value);
    for (const [source, { field, key }] of derivedFieldsOf(className)) {
      const text = values.get(source);
      const derived = typeof text === 'string' ? key(text) : null;
      if (derived !== null) values.set(field, derived);
    }
    if (className === '_User') this.#addUser(values, record);
    let size = 0;
    for (const value of values.values()) if (typeof value === 'string') size += value.length;
    return { objectId, values, files, size };
  }

  #take(values: Map<string, StoredValue>, files: NamedFile[], objectId: string, name: string, value: JsonValue): void {
    const { className, fields, asObjects } = this.#class;
    const field = fields.get(name);
    const place = `${className}.${name}`;
    if (!field) {
      // Fields left out by the plan are reported once, not per object.
      if (!this.#class.source.fields.has(name))
        this.#findings.values.add(place, objectId, 'the schema of the source has no such field');
      return;
    }
    if (field.type === 'Relation') return;
    const wire = asObjects.has(name) ? bare(value, asObjects.get(name)) : value;
    try {
      const stored =
        isFileType(field.type) && isJsonObject(wire) ? this.#fileOf(field, wire, files) : decoded(className, field, wire);
      if (isKeepable(wire)) values.set(name, stored);
      else this.#findings.values.add(place, objectId, 'it holds NUL or half a character');
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#findings.values.add(place, objectId, error.message);
    }
  }

  /** Returns the stored form of a file. A file that is not copied keeps its original name and address. */
  #fileOf(field: NewField, value: JsonObject, files: NamedFile[]): StoredValue {
    const { className } = this.#class;
    const name = own(value, 'name');
    const url = own(value, 'url');
    if (typeof name !== 'string' || name === '') return decoded(className, field, value);
    const adopted = adoptedName(name);
    if (!this.#copiesFiles && (typeof url === 'string' || adopted !== name)) {
      this.#findings.files.named++;
      return JSON.stringify({ __type: 'File', name, ...(typeof url === 'string' && { url }) });
    }
    files.push({ sourceName: name, name: adopted, isPrivate: field.type === 'PrivateFile' });
    this.#findings.files.named++;
    if (adopted !== name) this.#findings.files.renamed++;
    return decoded(className, field, { __type: 'File', name: adopted });
  }

  /** `null` for a public object. An invalid ACL grants nobody access. */
  #aclOf({ objectId, acl }: ParseRecord): StoredValue {
    if (acl === null) return null;
    try {
      const stored = valueTypeOf(aclField).decode(acl, aclField, this.#class.className);
      if (stored !== '{}' && isKeepable(acl)) return stored;
      if (stored === '{}') this.#findings.closed++;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.#findings.values.add(`${this.#class.className}.ACL`, objectId, `${error.message}; the object is for nobody`);
    }
    return forNobody;
  }

  #addUser(values: Map<string, StoredValue>, { objectId, passwordHash, hasAuthData }: ParseRecord): void {
    const { username, email } = Object.fromEntries(values);
    const name = typeof username === 'string' ? loginKey(username) : '';
    if (name.trim() !== '') values.set('_username_key', name);
    const address = typeof email === 'string' ? emailKey(email) : null;
    if (address !== null) values.set('_email_key', address);
    if (hasAuthData) this.#findings.authData++;
    if (passwordHash !== undefined && isUsableHash(passwordHash)) {
      values.set('password', passwordHash);
      this.#findings.passwords++;
    } else if (passwordHash !== undefined) this.#findings.withoutPassword.add('hash', objectId, 'it is no hash of bcrypt');
    else if (!hasAuthData) this.#findings.withoutPassword.add('none', objectId, 'the source has none');
  }
}

/** Whether a store can hold all texts in a value (`isStorable`). */
function isKeepable(value: JsonValue): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isKeepable);
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isKeepable(inner));
}

/** Converts a value of an unsupported type to an Object, by dropping `__type`. */
function bare(value: JsonValue, type: string | undefined): JsonValue {
  if (!isJsonObject(value) || value.__type !== type) return value;
  const { __type: _, ...rest } = value;
  return rest;
}

/** Converts a value to stored form. @throws ServiceError if the field does not accept it */
function decoded(className: string, field: NewField, value: JsonValue): StoredValue {
  const whole: Field = { ...field, column: field.name };
  return valueTypeOf(whole).decode(value, whole, className);
}
