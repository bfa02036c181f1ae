import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { createRecord, updateRecord } from '../../records/index.ts';
import { presentName } from '../../schema/former-names.ts';
import { type Field, rootOf, type TableSchema } from '../../schema/model.ts';
import { wirePointer } from '../../values/json/wire.ts';
import { type ActionDraft, commitDone, type Perform } from '../model/action.ts';
import type { Template } from '../model/model.ts';
import { withSources } from '../model/sources.ts';
import { type Filled, fillerFor, isoOf } from '../templates/template.ts';
import { type NamedRecord, pointerField } from './pointer-field.ts';

/**
 * Builds the body of a write from the `fields` of an action. A field whose template yields an absent value is omitted. In a Pointer field a text is
 * the id of a record: `"{{objectId}}"` links to the triggering record. In a String field a Date becomes its text.
 * @param table the table that is written; `undefined` if it does not exist yet
 * @throws as `Filler`
 */
export async function filledFields(
  run: Filled,
  fields: Readonly<Record<string, Template>>,
  table: TableSchema | undefined,
): Promise<JsonObject> {
  const filler = fillerFor(run);
  const body: [string, JsonValue][] = [];
  for (const [written, template] of Object.entries(fields)) {
    const name = table ? presentPath(table, written) : written;
    const value = await filler.value(template);
    if (value !== undefined) body.push([name, fitted(value, table?.fields.get(name), template)]);
  }
  return Object.fromEntries(body);
}

/** A definition may have been read before a field was renamed. */
function presentPath(table: TableSchema, name: string): string {
  const root = rootOf(name);
  return `${presentName(table, root)}${name.slice(root.length)}`;
}

function fitted(value: JsonValue, field: Field | undefined, template: Template): JsonValue {
  if (field?.type === 'Pointer' && field.targetClass !== undefined && typeof value === 'string' && value !== '')
    return wirePointer(field.targetClass, value);
  return field?.type === 'String' && typeof template === 'string' ? (isoOf(value) ?? value) : value;
}

/**
 * Creates a record, and its table if that does not exist.
 * Reference: triggers.md#create-object.
 * @throws errors of templates and creates
 */
export const createObject: Perform<'create-object'> = async (run) => {
  const { table, fields } = run.action.data;
  const body = await filledFields(run, fields, run.system.store.schema().tables.get(table));
  await createRecord(await withSources(run.context, table, run.sources), table, body);
};

/**
 * Updates the triggering record, or the record that one of its Pointers names. If all values are absent, nothing is written.
 * Reference: triggers.md#update-object.
 * @throws objectNotFound (101) if the record does not exist, badPointer (106) if the Pointer is empty; errors of templates and updates
 */
export const updateObject: Perform<'update-object'> = async (run) => {
  const { className, objectId } = targetOf(run);
  const body = await filledFields(run, run.action.data.fields, run.system.store.schema().tables.get(className));
  if (Object.keys(body).length === 0) {
    await commitDone(run);
    return;
  }
  await run.sources.addOf(run.system.store, className, objectId);
  await updateRecord(await withSources(run.context, className, run.sources), className, objectId, body);
};

/** Returns the record to update. @throws objectNotFound (101), badPointer (106) if there is none */
export function targetOf(run: ActionDraft<'update-object'>): NamedRecord {
  const { target } = run.action.data;
  if (target === 'self') return run.event === 'delete' ? fail('objectNotFound') : run.record;
  return pointerField(run, target) ?? fail('badPointer', `${target} is empty`);
}
