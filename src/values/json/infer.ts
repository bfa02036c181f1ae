import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { checkClassName, type FieldType, typeText } from '../../schema/model.ts';

/** A type for a new field. */
export interface InferredType {
  readonly type: FieldType;
  readonly targetClass?: string;
}

const scalars = {
  string: { type: 'String' },
  number: { type: 'Number' },
  boolean: { type: 'Boolean' },
} as const;

/**
 * Returns the type of a new field by its first value; `null` for null, which adds no field. Reference: records.md#new-fields-and-tables.
 * @throws notAType (111) for a wrapper that no wire type has, or that lacks its class; invalidClassName (103)
 */
export function inferType(value: JsonValue): InferredType | null {
  if (value === null) return null;
  if (typeof value !== 'object') return scalars[typeof value as keyof typeof scalars];
  if (Array.isArray(value)) return { type: 'Array' };
  if (!Object.hasOwn(value, '__type')) return { type: 'Object' };
  switch (value.__type) {
    case 'Date':
      return { type: 'Date' };
    case 'File':
      return { type: 'File' };
    case 'Relation':
      return { type: 'Relation', targetClass: targetOf(value.className, 'Relation') };
    // An included record that is sent back counts as its Pointer.
    case 'Pointer':
    case 'Object':
      return { type: 'Pointer', targetClass: targetOf(value.className, 'Pointer') };
    default:
      return fail('notAType', nameOf(value.__type));
  }
}

function targetOf(className: JsonValue | undefined, type: string): string {
  if (typeof className !== 'string') return fail('notAType', type);
  checkClassName(className);
  return className;
}

/** Returns a value's type as messages of code 111 spell it: `String`, `Pointer<Accounts>`, `Array`, … */
export function typeOfValue(value: JsonValue): string {
  if (value === null) return 'Null';
  if (typeof value !== 'object') return scalars[typeof value as keyof typeof scalars].type;
  if (Array.isArray(value)) return 'Array';
  if (!isJsonObject(value) || !Object.hasOwn(value, '__type')) return 'Object';
  const name = value.__type === 'Object' ? 'Pointer' : nameOf(value.__type);
  const targeted = (name === 'Pointer' || name === 'Relation') && typeof value.className === 'string';
  return typeText(name, targeted ? (value.className as string).slice(0, limits.nameLength) : undefined);
}

/** Shortens a client's `__type` for a message. */
function nameOf(wrapper: JsonValue | undefined): string {
  return typeof wrapper === 'string' ? wrapper.slice(0, limits.nameLength) : 'Object';
}
