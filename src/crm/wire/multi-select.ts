import { type ServiceError, serviceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { typeOfValue } from '../../values/json/infer.ts';
import { pointerOf } from '../../values/types/pointer.ts';

/** Returns the table named by a multi-select field: `array_<purpose>_Pointer_<Table>` (types.md#array). */
const targetInName = (name: string): string | undefined => /^array_.+_Pointer_(\w+)$/.exec(name)?.[1];

/** Returns the table to whose records a multi-select Array holds Pointers. */
export const multiSelectTarget = ({ name, type }: Field): string | undefined =>
  type === 'Array' ? targetInName(name) : undefined;

/**
 * Returns errors for elements of multi-select fields that are not Pointers to the table in the field's name (types.md#array). Writes accept such
 * elements,
 * but readers of the field ignore them.
 * @param table as it would be after creating the record
 * @returns the first error per field
 */
export function foreignElementsIn({ className, fields }: TableSchema, record: JsonObject): Map<string, ServiceError> {
  const foreign = new Map<string, ServiceError>();
  for (const [name, value] of Object.entries(record)) {
    const field = fields.get(name);
    const target = field && multiSelectTarget(field);
    if (target === undefined) continue;
    const elements = elementsOf(value);
    const at = elements.findIndex((element) => pointerOf(element)?.className !== target);
    if (at < 0) continue;
    const place = `${className}.${name}[${at}]`;
    foreign.set(name, serviceError('placeMismatch', place, `Pointer<${target}>`, typeOfValue(elements[at] ?? null)));
  }
  return foreign;
}

/** Elements of a list or of the `objects` of an operator; other values are refused elsewhere. */
function elementsOf(value: JsonValue): readonly JsonValue[] {
  const list = isJsonObject(value) ? (own(value, 'objects') ?? null) : value;
  return Array.isArray(list) ? list : [];
}
