import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { checkFieldName } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { grantOn, seen } from '../queries/field-visibility.ts';
import { getRow } from '../queries/records.ts';
import { badArguments, unless, unseen } from '../refusals.ts';
import { updateRow } from './records.ts';

/** A file as an upload answers it and a record holds it. */
export interface FileName {
  readonly name: string;
  readonly url: string;
}

/** Where a file is in a record. */
export interface FilePlace {
  readonly table: string;
  readonly objectId: string;
  readonly field: string;
}

/** So many fields of a table are named. */
const MAX_FIELDS_NAMED = 20;

/**
 * Looks whether a field takes files: within an Object a File object would be plain JSON, and the file nobody's. A field that is not there is
 * not made, under a key neither: a name that is wrong would leave a column.
 * @param action what comes next; who may not is refused
 * @throws classMissing (103), invalidFieldName (105), invalidArguments (107); permissionDenied, fieldDenied (119)
 */
export function requireFileField(
  context: CrmContext,
  { table, objectId, field }: FilePlace,
  action: 'get' | 'update',
  types: readonly ('File' | 'PrivateFile')[],
): void {
  const { table: about, hiddenFields } = grantOn(context, table, action, objectId);
  checkFieldName(field);
  if (hiddenFields.has(field)) fail('fieldDenied', field, table);
  const isOne = (name: string): boolean => types.some((type) => type === about.fields.get(name)?.type);
  if (isOne(field)) return;
  const found = about.fields.get(field)?.type;
  const others = seen(context, about, about.fields.keys()).filter(isOne).slice(0, MAX_FIELDS_NAMED);
  badArguments(`${table}.${field} is ${found === undefined ? 'no field' : `of type ${found}`}`, {
    expected: `A field of type ${types.join(' or ')}${others.length > 0 ? `: ${others.join(', ')}` : `, of which ${table} has none`}`,
    next: others.length > 0 ? 'Get-Schema' : 'Add-Fields',
  });
}

/**
 * Has a record hold an uploaded file (SPEC "Files" rule 5).
 * @returns the file as the record holds it, where the caller may see that
 * @throws unknownFile (1), and what `updateRecord` throws
 */
export async function attach(context: CrmContext, { table, objectId, field }: FilePlace, file: FileName): Promise<JsonObject> {
  const { updatedAt = null } = await updateRow(context, table, objectId, {
    [field]: { __type: 'File', name: file.name, url: file.url },
  });
  // The record holds it by now, whether it can be read or not.
  const held = await unless([...unseen, 'objectNotFound', 'unavailable', 'timeout'], undefined, async () =>
    own(await getRow(context, table, objectId, { keys: [field] }), field),
  );
  return { objectId, updatedAt, ...(isJsonObject(held) && { [field]: held }) };
}
