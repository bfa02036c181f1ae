import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../kernel/json.ts';
import type { Field } from '../schema/model.ts';
import { checkWrapperKeys } from './keys.ts';
import { mismatch } from './mismatch.ts';
import type { ValueType } from './type.ts';

/**
 * JSON text of `{__type: File, name, url?}`. The flags `public` and `private` are the server's own (SPEC "Wire types"), so
 * whatever a client sends for them is dropped.
 */
function decode(value: JsonValue, field: Field, className: string): string {
  if (!isJsonObject(value) || value.__type !== 'File') return mismatch(className, field, value);
  checkWrapperKeys(value);
  const { name, url } = value;
  if (typeof name !== 'string' || name === '') return fail('notAType', 'File');
  if (url === undefined || url === null) return JSON.stringify({ __type: 'File', name });
  if (typeof url !== 'string') return fail('notAType', 'File');
  return JSON.stringify({ __type: 'File', name, url });
}

/** A file that everybody may read once attached. */
export const fileType: ValueType = { type: 'File', storage: 'json', decode };

/** A file that is read through its record only. */
export const privateFileType: ValueType = { type: 'PrivateFile', storage: 'json', decode };
