import { fail } from '../../../errors/fail.ts';
import { wireDate } from '../../../values/json/wire.ts';

/**
 * Returns the JSON text of a value of a function, for a parser that checks it. A Date becomes a wire Date. Executes code of the function (getters,
 * `toJSON`).
 * @throws invalidJson (107) for values that JSON cannot represent
 */
export function wireText(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, wireForm);
  } catch (error) {
    return fail('invalidJson', error instanceof RangeError ? 'nested too deep' : 'a value cannot be written as JSON');
  }
  return text ?? fail('invalidJson', 'a value cannot be written as JSON');
}

/** A replacer for JSON.stringify, which converts Dates to text before calling it, and non-finite numbers to null after. */
function wireForm(this: unknown, key: string, value: unknown): unknown {
  const held = (this as Record<string, unknown>)[key];
  if (held instanceof Date) return wireDate(held.toISOString());
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number is not finite');
  return value;
}
