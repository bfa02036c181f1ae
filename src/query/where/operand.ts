import { canonicalJson, isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { isoText } from '../../kernel/time.ts';
import type { Field, FieldType } from '../../schema/model.ts';
import { parseIsoDate } from '../../values/iso.ts';
import { pointerOf } from '../../values/pointer.ts';
import type { StoredValue } from '../../values/type.ts';
import type { JsonOperand } from '../filter.ts';

const plain: ReadonlySet<FieldType> = new Set(['String', 'HTML/XML', 'Number', 'Boolean', 'Date', 'Pointer']);

/** Whether a field's column holds the value itself, not JSON text and not a join table. */
export function isPlain(field: Field): boolean {
  return plain.has(field.type);
}

/**
 * The stored form of a value that a plain column is compared with.
 * @returns `undefined` where the field can hold no such value: nothing is converted, so the constraint matches nothing
 */
export function columnValue(field: Field, value: JsonValue): StoredValue | undefined {
  switch (field.type) {
    case 'String':
    case 'HTML/XML':
      return typeof value === 'string' ? value : undefined;
    case 'Number':
      return typeof value === 'number' ? value : undefined;
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'Date':
      return instantOf(value);
    case 'Pointer':
      return pointerId(value, field.targetClass);
    default:
      return undefined;
  }
}

/** Milliseconds since 1970 of a Date object (SPEC "Query": the full object; a bare string is none). */
export function instantOf(value: JsonValue): number | undefined {
  if (!isJsonObject(value) || own(value, '__type') !== 'Date') return undefined;
  const iso = own(value, 'iso');
  return typeof iso === 'string' ? (parseIsoDate(iso) ?? undefined) : undefined;
}

/** objectId of a full Pointer object to the class. */
export function pointerId(value: JsonValue, className: string | undefined): string | undefined {
  const pointer = pointerOf(value);
  return pointer && pointer.className === className ? pointer.objectId : undefined;
}

/** A value as it is compared inside JSON: with a place in an Object, or with an element of an Array. */
export function jsonOperand(value: JsonValue): JsonOperand {
  if (value === null) return { kind: 'null' };
  if (typeof value === 'string') return { kind: 'string', value };
  if (typeof value === 'number') return { kind: 'number', value };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  const instant = instantOf(value);
  if (instant !== undefined) return { kind: 'date', iso: isoText(instant) };
  const pointer = pointerOf(value);
  return pointer ? { kind: 'pointer', ...pointer } : { kind: 'json', canonical: canonicalJson(value) };
}
