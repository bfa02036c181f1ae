import type { JsonValue } from '../../../kernel/json.ts';

/** The bytes that a value takes in an answer. */
export const bytesOf = (value: JsonValue | readonly JsonValue[]): number => Buffer.byteLength(JSON.stringify(value));
