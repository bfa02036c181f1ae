import { canonicalJson, isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { parseIsoDate } from '../../values/index.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import { instantOf } from '../where/context.ts';
import type { Expression, Literal, ValueKind } from './model.ts';

/** The literal of null, and of absent values. */
export const nullLiteral: Literal = { form: 'literal', kind: 'json', value: null };

/** Returns the literal of a value; Dates and Pointers become literals of their kind. */
export function literalOf(value: JsonValue): Literal {
  if (value === null) return nullLiteral;
  if (typeof value === 'string') return { form: 'literal', kind: 'text', value };
  if (typeof value === 'number') return { form: 'literal', kind: 'number', value };
  if (typeof value === 'boolean') return { form: 'literal', kind: 'boolean', value };
  const instant = instantOf(value);
  if (instant !== undefined) return { form: 'literal', kind: 'date', value: instant };
  const pointer = pointerOf(value);
  if (pointer) return { form: 'literal', kind: 'pointer', targetClass: pointer.className, value: pointer.objectId };
  return { form: 'literal', kind: 'json', value: canonicalJson(value) };
}

/** Whether an object is a value (Date, Pointer), not an expression. */
export function isWrapped(value: JsonValue): boolean {
  return isJsonObject(value) && (instantOf(value) !== undefined || pointerOf(value) !== undefined);
}

/** Converts ISO text compared with a Date, and `Class$id` compared with a Pointer, as Parse does (aggregation.md#match). */
export function literalFor(literal: Literal, { kind, targetClass }: ValueKind): Literal {
  if (literal.kind !== 'text') return literal;
  const text = literal.value as string;
  if (kind === 'date') {
    const instant = parseIsoDate(text);
    return instant === null ? literal : { form: 'literal', kind, value: instant };
  }
  if (kind !== 'pointer' || targetClass === undefined) return literal;
  const prefix = `${targetClass}$`;
  return text.startsWith(prefix) ? { form: 'literal', kind, targetClass, value: text.slice(prefix.length) } : literal;
}

/** Returns the operands of a comparison, with literals converted to the kind of the others. */
export function alignedLiterals(items: readonly Expression[]): Expression[] {
  return items.map((item) => {
    const other = items.find((one) => one !== item);
    return item.form === 'literal' && other ? literalFor(item, other) : item;
  });
}
