import type { JsonValue } from '../../../kernel/json.ts';

/** Encodes values as an opaque string that clients return unchanged. */
export const opaqueText = (values: readonly JsonValue[]): string => Buffer.from(JSON.stringify(values)).toString('base64url');

/** Decodes such a string; `undefined` if it is malformed. */
export function opaqueValues(text: string): JsonValue[] | undefined {
  try {
    const value: JsonValue = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
