import type { FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import { wireDate, wirePointer } from '../../../values/json/wire.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { quotedName } from './names.ts';

/*
 * `@>` and `@?` on jsonb, which the GIN indexes of Array and Object columns answer. For scalars and Pointers they say just what equality
 * says; objects and arrays are contained in more than what equals them.
 */

/** Longer lists are hashed instead: a path is gone through, operand by operand, for every element where no index is used. */
const MAX_SOUGHT = 16;

/**
 * Whether `@>` can look for an operand at a place: not below what may be a position or a key, and not for a Date, which may be written
 * in many ways.
 */
export function isContainable({ field, path }: FieldRef, { kind }: JsonOperand | Regex): boolean {
  const indexed = field.type === 'Array' || field.type === 'Object';
  return indexed && kind !== 'date' && kind !== 'pattern' && !path.some((label) => /^\d+$/.test(label));
}

/** JSON text of an operand. */
export function wholeOf(operand: JsonOperand): string {
  switch (operand.kind) {
    case 'null':
      return 'null';
    case 'json':
      return operand.canonical;
    case 'pointer':
      return JSON.stringify(wirePointer(operand.className, operand.objectId));
    case 'date':
      return JSON.stringify(wireDate(operand.iso));
    default:
      return JSON.stringify(operand.value);
  }
}

/** Whether a column contains the JSON text at a place, an SQL expression. */
export function contains(out: SqlOut, alias: string, { field, path }: FieldRef, json: string): string {
  const inside = path.reduceRight((inner, label) => `{${JSON.stringify(label)}:${inner}}`, json);
  return `${alias}.${quotedName(field.column)}::jsonb @> ${out.parameter(inside)}::jsonb`;
}

type Sought = Exclude<JsonOperand, { kind: 'date' | 'json' }>;
const isSought = (operand: JsonOperand | Regex): operand is Sought => !['date', 'json', 'pattern'].includes(operand.kind);

/** Whether `containsAny` says just what it is to say. */
export function canSeek(ref: FieldRef, operands: readonly (JsonOperand | Regex)[]): operands is readonly Sought[] {
  if (operands.length < 2 || operands.length > MAX_SOUGHT) return false;
  return operands.every((operand) => isSought(operand) && isContainable(ref, operand));
}

/** Whether the array at a place has an element for one of the operands. In strict mode a path takes no array apart by itself. */
export function containsAny(out: SqlOut, alias: string, { field, path }: FieldRef, operands: readonly Sought[]): string {
  const place = path.map((label) => `.${JSON.stringify(label)}`).join('');
  const terms = operands.map((operand) => {
    if (operand.kind !== 'pointer') return `@ == ${wholeOf(operand)}`;
    const { className, objectId } = operand;
    return `(@.__type == "Pointer" && @.className == ${JSON.stringify(className)} && @.objectId == ${JSON.stringify(objectId)})`;
  });
  const sought = `strict $${place}[*] ? (${terms.join(' || ')})`;
  return `${alias}.${quotedName(field.column)}::jsonb @? ${out.parameter(sought)}::jsonpath`;
}
