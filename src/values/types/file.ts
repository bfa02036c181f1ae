import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import type { Field } from '../../schema/model.ts';
import { checkWrapperKeys } from '../json/keys.ts';
import { type FileFlag, storedFile } from './file-text.ts';
import { mismatch, type ValueType } from './type.ts';

/**
 * Decodes to the JSON text of `{__type: File, name}` with the flag of the field's type. Drops flags and `url` that a client sends: the URL
 * follows from the service's addresses, which may change, so answers compute it (`file-text.ts`). Reference: types.md#file.
 */
function decodeFor(flag: FileFlag) {
  return (value: JsonValue, field: Field, className: string): string => {
    if (!isJsonObject(value) || value.__type !== 'File') return mismatch(className, field, value);
    checkWrapperKeys(value);
    const { name, url } = value;
    if (typeof name !== 'string' || name === '') return fail('notAType', 'File');
    if (url !== undefined && url !== null && typeof url !== 'string') return fail('notAType', 'File');
    return storedFile(name, flag);
  };
}

/** A file that everybody may read once it is attached. */
export const fileType: ValueType = { type: 'File', storage: 'json', decode: decodeFor('public') };

/** A file that is only read through its record. */
export const privateFileType: ValueType = { type: 'PrivateFile', storage: 'json', decode: decodeFor('private') };

/** Returns the name in the stored form of a File or PrivateFile. */
export function storedFileName(stored: string): string {
  return (JSON.parse(stored) as { name: string }).name;
}
