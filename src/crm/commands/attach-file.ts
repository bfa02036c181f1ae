import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { checkFieldName } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { grantOn, visibleFields } from '../queries/field-visibility.ts';
import { getRow } from '../queries/records.ts';
import { accessErrors, badArguments, unless } from '../refusals.ts';
import { updateRow } from './records.ts';

/** A file as returned by an upload and as stored in a record. */
export interface FileName {
  readonly name: string;
  readonly url: string;
}

/** The field of a record that takes a file. */
export interface FilePlace {
  readonly table: string;
  readonly objectId: string;
  readonly field: string;
}

/** Maximum number of fields listed in an error. */
const MAX_FIELDS_NAMED = 20;

/**
 * Checks that a field takes files. Inside an Object a File object is plain JSON and attaches nothing (files.md#attach-a-file). A missing field is
 * refused, also with a key that could create it: a misspelt name would add a column.
 * @param action the action that follows; the caller needs its permission
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
  const others = visibleFields(context, about, about.fields.keys()).filter(isOne).slice(0, MAX_FIELDS_NAMED);
  badArguments(`${table}.${field} is ${found === undefined ? 'no field' : `of type ${found}`}`, {
    expected: `A field of type ${types.join(' or ')}${others.length > 0 ? `: ${others.join(', ')}` : `, of which ${table} has none`}`,
    next: others.length > 0 ? 'Get-Schema' : 'Add-Fields',
  });
}

/**
 * Attaches an uploaded file to a record. Reference: files.md#attach-a-file.
 * @returns the file as stored in the record, if the caller may see it
 * @throws unknownFile (1), and what `updateRecord` throws
 */
export async function attach(context: CrmContext, { table, objectId, field }: FilePlace, file: FileName): Promise<JsonObject> {
  const { updatedAt = null } = await updateRow(context, table, objectId, {
    [field]: { __type: 'File', name: file.name, url: file.url },
  });
  // The file is attached by now, whether or not the record can be read back.
  const held = await unless([...accessErrors, 'objectNotFound', 'unavailable', 'timeout'], undefined, async () =>
    own(await getRow(context, table, objectId, { keys: [field] }), field),
  );
  return { objectId, updatedAt, ...(isJsonObject(held) && { [field]: held }) };
}
