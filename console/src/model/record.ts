import type { FieldModel, PointerNames, TableModel } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import { withoutOverrides } from './text.ts';
import { objectOf, pointerName, pointerOf } from './values.ts';

/** Fields that the page shows apart from the rest. */
const APART = new Set(['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL']);

/** What a record is called: its title fields that hold a text; nothing where none does. */
export function titleOf(table: TableModel, record: JsonObject, names: PointerNames): string {
  const parts = table.titleFields.map((field) => textOf(record[field], names)).filter(Boolean);
  return withoutOverrides(parts.join(' '));
}

function textOf(value: JsonValue | undefined, names: PointerNames): string {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  const pointer = pointerOf(value);
  return pointer ? (pointerName(pointer, names) ?? '') : '';
}

/** Whether a field takes the whole width: what is long or has a form of its own. */
export function isWide(field: FieldModel): boolean {
  return ['HTML/XML', 'Object', 'File', 'PrivateFile'].includes(field.type) || (field.type === 'Array' && !field.targetClass);
}

/** The fields of a record's page in their order: those it is called by, then the others; what takes the whole width last. */
export function pageFields(table: TableModel): readonly FieldModel[] {
  const title = new Set(table.titleFields);
  const rank = (field: FieldModel) => (title.has(field.name) ? 0 : isWide(field) ? 2 : 1);
  return table.fields.filter((field) => !APART.has(field.name)).sort((a, b) => rank(a) - rank(b));
}

/** Whether a field holds nothing: no value, an empty text, an empty list. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : objectOf(value) !== null && Object.keys(value).length === 0;
}

/** What a copy of a record begins with. */
export function copyOf(table: TableModel, record: JsonObject): JsonObject {
  const copied = table.fields.filter(
    (field) => !field.isReadOnly && !APART.has(field.name) && !isEmpty(record[field.name]) && !/File|Relation/.test(field.type),
  );
  return Object.fromEntries(copied.map((field) => [field.name, record[field.name] as JsonValue]));
}
