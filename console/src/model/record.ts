import type { FieldModel, PointerNames, TableModel } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../src/kernel/json.ts';
import { withoutOverrides } from './text.ts';
import { objectOf, pointerName, pointerOf } from './values.ts';

/** Fields that the page shows separately. */
const APART = new Set(['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL']);

/** Returns the title of a record: its title fields that contain text; empty if none does. */
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

/** Returns whether a field takes the full width: long texts and special forms. */
export function isWide(field: FieldModel): boolean {
  return ['HTML/XML', 'Object', 'File', 'PrivateFile'].includes(field.type) || (field.type === 'Array' && !field.targetClass);
}

/** Returns the fields of a record's page in order: title fields, then the others; those of full width last. */
export function pageFields(table: TableModel): readonly FieldModel[] {
  const title = new Set(table.titleFields);
  const rank = (field: FieldModel) => (title.has(field.name) ? 0 : isWide(field) ? 2 : 1);
  return table.fields.filter((field) => !APART.has(field.name)).sort((a, b) => rank(a) - rank(b));
}

/** Returns whether a field is empty: no value, an empty text, an empty list. */
export function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return Array.isArray(value) ? value.length === 0 : objectOf(value) !== null && Object.keys(value).length === 0;
}

/** Returns the initial fields of a copy of a record. */
export function copyOf(table: TableModel, record: JsonObject): JsonObject {
  const copied = table.fields.filter(
    (field) => !field.isReadOnly && !APART.has(field.name) && !isEmpty(record[field.name]) && !/File|Relation/.test(field.type),
  );
  return Object.fromEntries(copied.map((field) => [field.name, record[field.name] as JsonValue]));
}
