import { grantFor } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../kernel/json.ts';
import { checkFieldName } from '../../schema/naming.ts';
import type { ToolCall } from '../tools/tool.ts';
import { badArguments, getRow, tableNamed, unless, unseen, updateRow } from './records.ts';

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

/**
 * Looks whether a field takes files: within an Object a File object would be plain JSON, and the file nobody's.
 * @param types that it may have; `new` where it may be missing, since under a key a write makes it
 * @throws classMissing (103), invalidFieldName (105), invalidArguments (107); fieldDenied (119) for a field that is hidden
 */
export function requireFileField(
  call: ToolCall,
  { table, field }: FilePlace,
  types: readonly ('File' | 'PrivateFile' | 'new')[],
): void {
  const about = tableNamed(call, table);
  checkFieldName(field);
  if (grantFor(call.principal, 'update', about)?.hiddenFields.has(field)) fail('fieldDenied', field, table);
  const found = about.fields.get(field)?.type;
  if (types.some((type) => type === (found ?? 'new'))) return;
  badArguments(`${table}.${field} is ${found === undefined ? 'no field' : `of type ${found}`}`, {
    expected: `A field of type ${types.filter((type) => type !== 'new').join(' or ')}`,
    next: 'Get-Schema',
  });
}

/**
 * Has a record hold an uploaded file (SPEC "Files" rule 5).
 * @returns the file as the record holds it, where the caller may see that
 * @throws unknownFile (1), and what `updateRecord` throws
 */
export async function attach(call: ToolCall, { table, objectId, field }: FilePlace, file: FileName): Promise<JsonObject> {
  const { updatedAt = null } = await updateRow(call, table, objectId, {
    [field]: { __type: 'File', name: file.name, url: file.url },
  });
  const held = await unless([...unseen, 'objectNotFound'], undefined, async () =>
    own(await getRow(call, table, objectId, { keys: [field] }), field),
  );
  return { objectId, updatedAt, ...(isJsonObject(held) && { [field]: held }) };
}
