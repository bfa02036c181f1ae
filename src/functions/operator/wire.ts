import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { parseRequestJson } from '../../values/index.ts';
import { wireDate } from '../../values/json/wire.ts';

/**
 * A value of a function as the service takes it from outside: a copy, held to what bodies are held to. A Date becomes a wire Date.
 * @throws invalidJson (107) for what JSON cannot say
 */
export function toWire(value: unknown): JsonValue {
  return parseRequestJson(wireText(value), limits.jsonDepth, Number.POSITIVE_INFINITY);
}

/** The same of what has to be an object. @throws invalidJson (107) */
export function toWireObject(value: unknown, what: string): JsonObject {
  const wire = toWire(value);
  return isJsonObject(wire) ? wire : fail('invalidJson', `${what} should be an object`);
}

/** JSON text of a value of a function, for a reader that checks it. @throws invalidJson (107) for what JSON cannot say */
export function wireText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, wireForm);
  } catch (error) {
    return fail('invalidJson', error instanceof RangeError ? 'nested too deep' : 'a value cannot be written as JSON');
  }
  return text ?? fail('invalidJson', 'a value cannot be written as JSON');
}

/** JSON.stringify turns Dates to text before it asks, and numbers that are not finite to null after. */
function wireForm(this: unknown, key: string, value: unknown): unknown {
  const held = (this as Record<string, unknown>)[key];
  if (held instanceof Date) return wireDate(held.toISOString());
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number is not finite');
  return value;
}
