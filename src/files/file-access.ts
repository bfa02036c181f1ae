import { authorize, holdsKey, master } from '../access/index.ts';
import { isRefusal } from '../errors/fail.ts';
import { isJsonObject, type JsonValue, own } from '../kernel/json.ts';
import { getRow, type RecordContext } from '../records/index.ts';
import { presentName } from '../schema/former-names.ts';
import { checkFieldName } from '../schema/model.ts';

/** A field of a record. */
export interface RecordField {
  readonly className: string;
  readonly objectId: string;
  readonly field: string;
}

/**
 * Returns whether a record's PrivateFile field holds a file, for a caller. Reads the record as the caller, so that the usual authorization decides.
 * Reference: files.md#private-files.
 * @returns `denied` if the caller may not read the record or the field, or if the table, record or field does not exist; callers with a key get `no`
 *   instead
 */
export async function holds(context: RecordContext, place: RecordField, name: string): Promise<'yes' | 'no' | 'denied'> {
  try {
    const value = await readField(context, place);
    const { className } = place;
    const table = context.store.schema().tables.get(className);
    const field = presentField(context, place);
    if (table?.fields.get(field)?.type === 'PrivateFile' && isNamed(value, name)) return 'yes';
    // A field that the caller sees only in some records may be hidden in this one.
    const mayBeHidden = value === undefined && table && authorize(context.principal, 'get', table).reveals.has(field);
    return mayBeHidden ? 'denied' : 'no';
  } catch (error) {
    // A store that does not respond says nothing about the caller's rights.
    if (!isRefusal(error)) throw error;
    return holdsKey(context.principal) ? 'no' : 'denied';
  }
}

/** Returns whether the field currently references the named file, ignoring permissions and whether the file still exists. */
export async function isReferenced(context: RecordContext, place: RecordField, name: string): Promise<boolean> {
  try {
    return isNamed(await readField({ ...context, principal: master }, place), name);
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** Addresses of private files stay valid when the field is renamed. */
function presentField({ store }: RecordContext, { className, field }: RecordField): string {
  const table = store.schema().tables.get(className);
  return table ? presentName(table, field) : field;
}

async function readField(context: RecordContext, place: RecordField): Promise<JsonValue | undefined> {
  const { className, objectId } = place;
  const field = presentField(context, place);
  // Rejects lists of names and paths inside a field.
  checkFieldName(field);
  return own(await getRow(context, className, objectId, { keys: [field] }), field);
}

const isNamed = (value: JsonValue | undefined, name: string): boolean =>
  isJsonObject(value) && own(value, '__type') === 'File' && own(value, 'name') === name;

/**
 * Parses the address of a private file: `…/{name}/{Table}/{objectId}/{Field}` (files.md#private-files).
 * @param url any value sent by a client
 * @returns `null` if it is not the address of this file in a record
 */
export function recordFieldOf(url: unknown, name: string): RecordField | null {
  if (typeof url !== 'string') return null;
  const [ofFile, className, objectId, field] = url.split('/').slice(-4);
  if (ofFile !== name || className === undefined || objectId === undefined || field === undefined) return null;
  try {
    return { className, objectId: decodeURIComponent(objectId), field };
  } catch {
    return null;
  }
}
