import type { FieldRef, JsonOperand, Regex } from '../../../query/model/filter.ts';
import { wireDate, wirePointer } from '../../../values/json/wire.ts';
import type { SqlOut } from '../../sql/dialect.ts';
import { quotedName } from './names.ts';

/*
 * `@>` and `@?` on jsonb, which the GIN indexes of Array and Object columns serve. For scalars and Pointers they are equivalent to equality;
 * objects and arrays are also contained in values that do not equal them.
 */

/** Maximum operands of a path query. Longer lists are hashed instead: without an index, a path query compares every element with every operand. */
const MAX_SEEK_OPERANDS = 16;

/**
 * Returns whether `@>` can search for an operand at a path: not below a label that may be a position or a key, and not for a Date, which has
 * several spellings.
 */
export function isContainable({ field, path }: FieldRef, { kind }: JsonOperand | Regex): boolean {
  const indexed = field.type === 'Array' || field.type === 'Object';
  return indexed && kind !== 'date' && kind !== 'pattern' && !path.some((label) => /^\d+$/.test(label));
}

/** Returns the JSON text of an operand. */
export function jsonOfOperand(operand: JsonOperand): string {
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

/** Returns SQL of whether a column contains a JSON text, given as an SQL expression, at a path. */
export function contains(out: SqlOut, alias: string, { field, path }: FieldRef, json: string): string {
  const inside = path.reduceRight((inner, label) => `{${JSON.stringify(label)}:${inner}}`, json);
  return `${alias}.${quotedName(field.column)}::jsonb @> ${out.parameter(inside)}::jsonb`;
}

type SeekOperand = Exclude<JsonOperand, { kind: 'date' | 'json' }>;
const isSeekOperand = (operand: JsonOperand | Regex): operand is SeekOperand =>
  !['date', 'json', 'pattern'].includes(operand.kind);

/** Returns whether `containsAny` is exact for these operands. */
export function canSeek(ref: FieldRef, operands: readonly (JsonOperand | Regex)[]): operands is readonly SeekOperand[] {
  if (operands.length < 2 || operands.length > MAX_SEEK_OPERANDS) return false;
  return operands.every((operand) => isSeekOperand(operand) && isContainable(ref, operand));
}

/**
 * Returns SQL of whether the array at a path has an element that equals one of the operands. Strict mode prevents the path query from unwrapping
 * nested arrays.
 */
export function containsAny(out: SqlOut, alias: string, { field, path }: FieldRef, operands: readonly SeekOperand[]): string {
  const place = path.map((label) => `.${JSON.stringify(label)}`).join('');
  const terms = operands.map((operand) => {
    if (operand.kind !== 'pointer') return `@ == ${jsonOfOperand(operand)}`;
    const { className, objectId } = operand;
    return `(@.__type == "Pointer" && @.className == ${JSON.stringify(className)} && @.objectId == ${JSON.stringify(objectId)})`;
  });
  const query = `strict $${place}[*] ? (${terms.join(' || ')})`;
  return `${alias}.${quotedName(field.column)}::jsonb @? ${out.parameter(query)}::jsonpath`;
}
