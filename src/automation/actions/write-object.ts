import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { createRecord, updateRecord } from '../../records/index.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { wirePointer } from '../../values/json/wire.ts';
import { type ActionDraft, commitDone, type Perform } from '../model/action.ts';
import type { Template } from '../model/model.ts';
import { notingSources } from '../model/sources.ts';
import { type Filled, fillerFor, isoOf } from '../templates/template.ts';
import { type NamedRecord, pointerField } from './pointer-field.ts';

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

/**
 * Makes a record (CONTRACT "Triggers": `create-object`), and its table where it is not there yet.
 * @throws what templates and creates throw
 */
export const createObject: Perform<'create-object'> = async (run) => {
  const { table, fields } = run.action.data;
  const body = await filledFields(run, fields, run.system.store.schema().tables.get(table));
  await createRecord(await notingSources(run.context, table, run.sources), table, body);
};

/**
 * Changes the triggering record, or the one that a Pointer of it names (CONTRACT "Triggers": `update-object`). Where all values are absent
 * nothing is written.
 * @throws objectNotFound (101) where the record is gone, badPointer (106) where the Pointer is empty; what templates and updates throw
 */
export const updateObject: Perform<'update-object'> = async (run) => {
  const { className, objectId } = targetOf(run);
  const body = await filledFields(run, run.action.data.fields, run.system.store.schema().tables.get(className));
  if (Object.keys(body).length === 0) {
    await commitDone(run);
    return;
  }
  await run.sources.addOf(run.system.store, className, objectId);
  await updateRecord(await notingSources(run.context, className, run.sources), className, objectId, body);
};

/** The record that is changed. @throws objectNotFound (101), badPointer (106) where there is none */
export function targetOf(run: ActionDraft<'update-object'>): NamedRecord {
  const { target } = run.action.data;
  if (target === 'self') return run.event === 'delete' ? fail('objectNotFound') : run.record;
  return pointerField(run, target) ?? fail('badPointer', `${target} is empty`);
}
