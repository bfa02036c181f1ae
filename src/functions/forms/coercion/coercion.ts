import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { Field } from '../../../schema/model.ts';
import { wirePointer } from '../../../values/json/wire.ts';
import { pointerType } from '../../../values/types/pointer.ts';
import { mismatch } from '../../../values/types/type.ts';

/**
 * Where a form sent a value (functions.md#form-values): `lead` in `getlead`; `account` with the prefix `account_` (also key inputs and the defaults
 * of a contact); `row` with the prefix `table_`.
 */
export type ValueSource = 'lead' | 'account' | 'row';
export const valueSources: readonly ValueSource[] = ['lead', 'account', 'row'];

/** The value that a form sent for a field; never an empty text. */
export type SentValue = Exclude<JsonValue, null>;

/**
 * Converts the value that a form sent to the type of the field.
 * @param className the table, for the error message
 * @returns the wire form; `null` for a value that is stored as null; `undefined` for one that is not written
 * @throws schemaMismatch (111), and errors of `ValueType.decode` for malformed content
 */
export type Coercion = (value: SentValue, field: Field, className: string) => JsonValue | undefined;

/** Ignores the value: for Relations and ACLs, and for files outside `row`. */
export const ignore: Coercion = () => undefined;

/** Length of an objectId. */
const ID_LENGTH = 10;

/** For `getlead` and `account_`: an objectId, or a Pointer to the field's class. */
export const pointer: Coercion = (value, field, className) => {
  if (typeof value !== 'string') return pointerTo(field, pointerType.decode(value, field, className));
  return value.length === ID_LENGTH ? pointerTo(field, value) : mismatch(className, field, value);
};

/** For `table_`: an objectId only; other texts and objects are ignored. */
export const bareId: Coercion = (value, field, className) => {
  if (typeof value === 'string') return value.length === ID_LENGTH ? pointerTo(field, value) : undefined;
  return typeof value === 'object' && !Array.isArray(value) ? undefined : mismatch(className, field, value);
};

/** Returns a Pointer to a record of the field's class. */
export const pointerTo = ({ targetClass }: Field, objectId: JsonValue): JsonObject =>
  wirePointer(targetClass as string, objectId as string);
