import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { wirePointer } from '../../values/json/wire.ts';
import type { Template } from '../model.ts';
import { type Filled, fillerFor, isoOf } from '../template.ts';

/**
 * The body of a write from the `fields` of an action. A field whose template stands for an absent value is left out. In a Pointer field a text
 * is the id of a record: `"{{objectId}}"` links the triggering one. In a String field a Date of the record is its text.
 * @param table that is written; `undefined` where there is none
 * @throws what `Filler` throws
 */
export async function filledFields(
  run: Filled,
  fields: Readonly<Record<string, Template>>,
  table: TableSchema | undefined,
): Promise<JsonObject> {
  const filler = fillerFor(run);
  const body: [string, JsonValue][] = [];
  for (const [name, template] of Object.entries(fields)) {
    const value = await filler.value(template);
    if (value !== undefined) body.push([name, fitted(value, table?.fields.get(name), template)]);
  }
  return Object.fromEntries(body);
}

function fitted(value: JsonValue, field: Field | undefined, template: Template): JsonValue {
  if (field?.type === 'Pointer' && field.targetClass !== undefined && typeof value === 'string' && value !== '')
    return wirePointer(field.targetClass, value);
  return field?.type === 'String' && typeof template === 'string' ? (isoOf(value) ?? value) : value;
}
