import type { JsonValue } from '../../../kernel/json.ts';

/** A list of values as a text that clients hand back as they got it. */
export const opaqueText = (values: readonly JsonValue[]): string => Buffer.from(JSON.stringify(values)).toString('base64url');

/** The list of such a text; `undefined` for any other. */
export function opaqueValues(text: string): JsonValue[] | undefined {
  try {
    const value: JsonValue = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
