import { type JsonObject, own } from '../../kernel/json.ts';
import type { NewField, SchemaChange } from '../../schema/change.ts';
import { type Field, type TableIndex, type TableSchema, typeText } from '../../schema/model.ts';
import { fixedType, isSystemField, secretFieldsOf, uniqueFieldsOf } from '../../schema/system-tables.ts';

type Type = Pick<NewField, 'type' | 'targetClass'>;

/** Returns a field as the template's definition has it; `undefined` if it has none of this name. */
export function definedField(definition: JsonObject, name: string): NewField | undefined {
  const field = own((own(definition, 'fields') ?? {}) as JsonObject, name) as unknown as Type | undefined;
  return field && { name, ...field };
}

/** Whether two fields hold the same kind of value. */
export function sameType(a: Type | undefined, b: Type | undefined): boolean {
  return a !== undefined && b !== undefined && typeText(a.type, a.targetClass) === typeText(b.type, b.targetClass);
}

/** Plans the fields and indexes that a definition of the template has and a table lacks. */
export function planMissing(table: TableSchema, definition: JsonObject): SchemaChange[] {
  const { className } = table;
  const names = Object.keys((own(definition, 'fields') ?? {}) as JsonObject);
  const steps = names.flatMap((name) => planField(table, definedField(definition, name) as NewField));
  for (const field of table.fields.values()) {
    const type = fixedType(className, field.name);
    if (type !== undefined && type !== field.type && isSystemField(className, field.name)) steps.push(putAside(table, field));
  }
  return [...steps, ...planIndexes(table, definition)];
}

/**
 * Fields that the service relies on must have its type: a field of an operator with such a name keeps its values under another name. Secret
 * fields start empty, since the service did not write their values. Unique fields get their index when they are added; the caller writes their
 * values again.
 */
function planField(table: TableSchema, wanted: NewField): SchemaChange[] {
  const { className } = table;
  const { name } = wanted;
  const known = table.fields.get(name);
  const add: SchemaChange = { kind: 'addField', className, ...wanted };
  if (!known) return [add];
  const isRemade = secretFieldsOf(className).has(name) || (uniqueFieldsOf(className).has(name) && sameType(known, wanted));
  if (isRemade) return [{ kind: 'dropField', className, name }, add];
  if (sameType(known, wanted) || !isSystemField(className, name)) return [];
  return [putAside(table, known), add];
}

function putAside(table: TableSchema, { name }: Field): SchemaChange {
  // No name that a client may choose starts with an underscore.
  const base = `${name.replace(/^_+/, '')}_before`;
  let to = base;
  for (let n = 2; table.fields.has(to); n++) to = `${base}_${n}`;
  return { kind: 'renameField', className: table.className, name, to };
}

function planIndexes(table: TableSchema, definition: JsonObject): SchemaChange[] {
  const { className } = table;
  const taken = new Set(Array.from(table.indexes.keys(), (name) => name.toLowerCase()));
  const indexes = Object.entries((own(definition, 'indexes') ?? {}) as Record<string, Record<string, 1 | -1>>);
  return indexes.flatMap(([name, keys]): SchemaChange[] => {
    const index: TableIndex = { name, keys: Object.entries(keys) };
    const fits = index.keys.every(([field]) => {
      const wanted = definedField(definition, field);
      const known = table.fields.get(field);
      return !known || !wanted || sameType(known, wanted) || isSystemField(className, field);
    });
    return fits && !taken.has(name.toLowerCase()) ? [{ kind: 'setIndex', className, index }] : [];
  });
}
