import { type ServiceError, serviceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { typeOfValue } from '../../values/json/infer.ts';
import { pointerOf } from '../../values/types/pointer.ts';

/** The table that a name of a multi-select field ends in: `array_<purpose>_Pointer_<Table>` (SPEC "Wire types"). */
const targetInName = (name: string): string | undefined => /^array_.+_Pointer_(\w+)$/.exec(name)?.[1];

/** The table whose records an Array holds Pointers to, by its name. */
export const multiSelectTarget = ({ name, type }: Field): string | undefined =>
  type === 'Array' ? targetInName(name) : undefined;

/**
 * Elements of multi-select fields that are no Pointers to the table that the field's name ends in (SPEC "Wire types"). The store takes them, and
 * what reads the field passes them over.
 * @param table as it would be with the record
 * @returns the first of each field, by field
 */
export function strangersIn({ className, fields }: TableSchema, record: JsonObject): Map<string, ServiceError> {
  const strangers = new Map<string, ServiceError>();
  for (const [name, value] of Object.entries(record)) {
    const field = fields.get(name);
    const target = field && multiSelectTarget(field);
    if (target === undefined) continue;
    const elements = elementsOf(value);
    const at = elements.findIndex((element) => pointerOf(element)?.className !== target);
    if (at < 0) continue;
    const place = `${className}.${name}[${at}]`;
    strangers.set(name, serviceError('placeMismatch', place, `Pointer<${target}>`, typeOfValue(elements[at] ?? null)));
  }
  return strangers;
}

/** Of a list, or of the `objects` of an operator; a value that is no list is refused as such. */
function elementsOf(value: JsonValue): readonly JsonValue[] {
  const list = isJsonObject(value) ? (own(value, 'objects') ?? null) : value;
  return Array.isArray(list) ? list : [];
}
