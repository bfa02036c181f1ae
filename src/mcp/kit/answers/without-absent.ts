import type { JsonObject, JsonValue } from '../../../kernel/json.ts';

/** An object of those members alone that have a value. */
export const withoutAbsent = (members: Readonly<Record<string, JsonValue | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter((member): member is [string, JsonValue] => member[1] !== undefined));
