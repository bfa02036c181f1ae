import type { JsonObject } from '../kernel/json.ts';
import { type JsonText, type WriteOutcome, wholeText } from './port.ts';

// The only place where JSON text that a store has written is parsed. Stores write text, since most of it goes to clients as it is, and what is
// long comes from threads.

/**
 * The value of a text.
 * @param most characters
 * @throws resultTooLarge (116), as `wholeText`
 */
export async function valueOfText<Value>(text: JsonText, most?: number): Promise<Value> {
  return JSON.parse(await wholeText(text, most)) as Value;
}

/** What a write returned, as values. */
export function valuesReturned(returned: WriteOutcome['returned']): JsonObject {
  return returned === '' ? {} : (JSON.parse(`{${returned.slice(1)}}`) as JsonObject);
}
