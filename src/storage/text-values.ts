import type { JsonObject } from '../kernel/json.ts';
import { type FindResult, type JsonText, type WriteOutcome, wholeText } from './port.ts';

// The only place where JSON text that a store has written is parsed. Stores write text, since most of it goes to clients as it is, and what is
// long comes from threads; short lists come as values where these are wanted.

/**
 * The value of a text.
 * @param most characters
 * @throws resultTooLarge (116), as `wholeText`
 */
export async function valueOfText<Value>(text: JsonText, most?: number): Promise<Value> {
  return JSON.parse(await wholeText(text, most)) as Value;
}

/** Records that were found, as values. @param most characters of a text that is long @throws resultTooLarge (116) */
export async function rowsOf<Row>({ results, rows }: FindResult, most?: number): Promise<Row[]> {
  return (rows as Row[] | undefined) ?? valueOfText<Row[]>(results, most);
}

/** What a write returned, as values. */
export function valuesReturned(returned: WriteOutcome['returned']): JsonObject {
  return returned === '' ? {} : (JSON.parse(`{${returned.slice(1)}}`) as JsonObject);
}
