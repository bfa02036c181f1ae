import type { JsonObject } from '../../../kernel/json.ts';
import { valueTypeOf } from '../../../values/index.ts';
import type { Coercion } from './type.ts';

/** `table_`: a File object, of which the name counts. The address may say where a private file is read; nobody may read it who sends forms. */
export const file: Coercion = (value, field, className) => {
  valueTypeOf(field).decode(value, field, className);
  return { __type: 'File', name: (value as JsonObject).name as string };
};
