import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { Field } from '../../../schema/model.ts';
import { wirePointer } from '../../../values/json/wire.ts';
import { pointerType } from '../../../values/types/pointer.ts';
import { mismatch } from '../../../values/types/type.ts';

/**
 * Where a value was sent (SPEC "Form-layer value coercion"): `lead` by `getlead`, `account` under `account_` (key inputs and defaults of a
 * contact count as such), `row` under `table_`.
 */
export type Place = 'lead' | 'account' | 'row';
export const places: readonly Place[] = ['lead', 'account', 'row'];

/** What a form sent for a field; never an empty text. */
export type SentValue = Exclude<JsonValue, null>;

/**
 * Makes what a form sent a value that the field takes.
 * @param className the table, for the text of the error
 * @returns the wire form; `null` for a value that is stored as null; `undefined` for one that is not written
 * @throws schemaMismatch (111), and what `ValueType.decode` throws for what is malformed inside
 */
export type Coercion = (value: SentValue, field: Field, className: string) => JsonValue | undefined;

/** Relations and ACLs have no form; files have one in `row` alone. */
export const passOver: Coercion = () => undefined;

/** SPEC "Limits": characters of an objectId. */
const ID_LENGTH = 10;

/** `getlead` and `account_`: an objectId, or a Pointer to the field's class. */
export const pointer: Coercion = (value, field, className) => {
  if (typeof value !== 'string') return pointerTo(field, pointerType.decode(value, field, className));
  return value.length === ID_LENGTH ? pointerTo(field, value) : mismatch(className, field, value);
};

/** `table_`: an objectId alone; other texts and objects are dropped. */
export const bareId: Coercion = (value, field, className) => {
  if (typeof value === 'string') return value.length === ID_LENGTH ? pointerTo(field, value) : undefined;
  return typeof value === 'object' && !Array.isArray(value) ? undefined : mismatch(className, field, value);
};

/** A Pointer of a field of this type. */
export const pointerTo = ({ targetClass }: Field, objectId: JsonValue): JsonObject =>
  wirePointer(targetClass as string, objectId as string);
