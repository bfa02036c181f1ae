import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import type { Field } from '../../../schema/model.ts';
import { wirePointer } from '../../../values/json/wire.ts';
import { pointerType } from '../../../values/types/pointer.ts';
import { mismatch } from '../../../values/types/type.ts';
import type { Coercion } from './type.ts';

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
