import type { JsonValue } from '../../../kernel/json.ts';

/** A value in wire form, nothing for an empty one, or what is wrong with it. */
export type Converted = { readonly value: JsonValue } | { readonly fault: string } | null;

export function wrong(value: JsonValue, expected: string): { readonly fault: string } {
  return { fault: `${JSON.stringify(value).slice(0, 100).toWellFormed()} is not ${expected}` };
}
