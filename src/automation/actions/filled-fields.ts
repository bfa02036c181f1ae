import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { Template } from '../model.ts';
import { fillerFor } from '../template.ts';
import type { ActionRun } from './action.ts';

/**
 * The body of a write from the `fields` of an action. A field whose template stands for an absent value is left out. In a Pointer field a text
 * is the id of a record: `"{{objectId}}"` links the triggering one.
 * @param table that is written; `undefined` where there is none
 * @throws what `Filler` throws
 */
export async function filledFields(
  run: Pick<ActionRun, 'record' | 'reading'>,
  fields: Readonly<Record<string, Template>>,
  table: TableSchema | undefined,
): Promise<JsonObject> {
  const filler = fillerFor(run);
  const body: [string, JsonValue][] = [];
  for (const [name, template] of Object.entries(fields)) {
    const value = await filler.value(template);
    if (value !== undefined) body.push([name, linked(value, table, name)]);
  }
  return Object.fromEntries(body);
}

function linked(value: JsonValue, table: TableSchema | undefined, name: string): JsonValue {
  const className = typeof value === 'string' && value !== '' ? table?.fields.get(name)?.targetClass : undefined;
  return className === undefined || table?.fields.get(name)?.type !== 'Pointer'
    ? value
    : { __type: 'Pointer', className, objectId: value };
}
