import { authorize, holdsKey, master } from '../access/index.ts';
import { isRefusal } from '../errors/fail.ts';
import { isJsonObject, type JsonValue, own } from '../kernel/json.ts';
import { getRow, type RecordContext } from '../records/index.ts';
import { checkFieldName } from '../schema/model.ts';

/** A field of a record. */
export interface Place {
  readonly className: string;
  readonly objectId: string;
  readonly field: string;
}

/**
 * Whether a record's PrivateFile field holds a file, for a caller. The record is read as he would read it, so that the one authoriser decides.
 * SPEC "Files" rule 6; docs/decisions.md "Files".
 * @returns `denied` for who may not read the record or the field, and where there is no such table, record or field name; a key gets
 *   `no` instead
 */
export async function holds(context: RecordContext, place: Place, name: string): Promise<'yes' | 'no' | 'denied'> {
  try {
    const value = await readField(context, place);
    const { className, field } = place;
    const table = context.store.schema().tables.get(className);
    if (table?.fields.get(field)?.type === 'PrivateFile' && isNamed(value, name)) return 'yes';
    // A field that only some records show him may be hidden in this one.
    const mayBeHidden = value === undefined && table && authorize(context.principal, 'get', table).reveals.has(field);
    return mayBeHidden ? 'denied' : 'no';
  } catch (error) {
    // A store that does not answer says nothing of the caller's rights.
    if (!isRefusal(error)) throw error;
    return holdsKey(context.principal) ? 'no' : 'denied';
  }
}

/** Whether the field references the named file now, whatever the permissions, and whether or not the file still exists. */
export async function isHeld(context: RecordContext, place: Place, name: string): Promise<boolean> {
  try {
    return isNamed(await readField({ ...context, principal: master }, place), name);
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

async function readField(context: RecordContext, { className, objectId, field }: Place): Promise<JsonValue | undefined> {
  // It is one name, not a list of them or a place inside.
  checkFieldName(field);
  return own(await getRow(context, className, objectId, { keys: [field] }), field);
}

const isNamed = (value: JsonValue | undefined, name: string): boolean =>
  isJsonObject(value) && own(value, '__type') === 'File' && own(value, 'name') === name;

/**
 * The field of a record that the address of a private file names: `…/{name}/{Table}/{objectId}/{Field}` (CONTRACT "Addresses").
 * @param url whatever a client sent for one
 * @returns `null` where it is not the address of this file in a record
 */
export function placeOf(url: unknown, name: string): Place | null {
  if (typeof url !== 'string') return null;
  const [ofFile, className, objectId, field] = url.split('/').slice(-4);
  if (ofFile !== name || className === undefined || objectId === undefined || field === undefined) return null;
  try {
    return { className, objectId: decodeURIComponent(objectId), field };
  } catch {
    return null;
  }
}
