import { escapeJson, type JsonObject } from '../kernel/json.ts';
import { type FindResult, type JsonText, type WriteOutcome, wholeText } from './port.ts';

// The only place that parses JSON text written by a store. Stores produce text, since most of it goes to clients unchanged and long results come from
// threads; short lists can be requested as values.

/**
 * Parses a text.
 * @throws resultTooLarge (116) if it has more than `maxChars` characters, as `wholeText`
 */
export async function valueOfText<Value>(text: JsonText, maxChars?: number): Promise<Value> {
  return JSON.parse(await wholeText(text, maxChars)) as Value;
}

/** Returns the records of a result as values. @param maxChars limit for a text that is streamed @throws resultTooLarge (116) */
export async function rowsOf<Row>({ results, rows }: FindResult, maxChars?: number): Promise<Row[]> {
  return (rows as Row[] | undefined) ?? valueOfText<Row[]>(results, maxChars);
}

/** Returns the text of each record of a result as it stands inside a JSON string. @throws resultTooLarge (116) as `wholeText` */
export async function escapedOf({ results, escaped }: FindResult): Promise<readonly string[]> {
  return escaped ?? recordTexts(await wholeText(results)).map(escapeJson);
}

/** Returns the values that a write returned. */
export function valuesReturned(returned: WriteOutcome['returned']): JsonObject {
  return returned === '' ? {} : (JSON.parse(`{${returned.slice(1)}}`) as JsonObject);
}

/** Returns the number of objects in the text of an array of objects, in one pass and without making them. */
export function countRecords(json: string): number {
  let records = 0;
  eachRecord(json, () => records++);
  return records;
}

/** Returns the texts of the objects in the text of an array of objects. */
function recordTexts(json: string): string[] {
  const texts: string[] = [];
  eachRecord(json, (start, end) => texts.push(json.slice(start, end)));
  return texts;
}

function eachRecord(json: string, found: (start: number, end: number) => void): void {
  let depth = 0;
  let start = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') at = endOfText(json, at);
    else if (character === '{' || character === '[') {
      if (depth === 1) start = at;
      depth++;
    } else if (character === '}' || character === ']') {
      depth--;
      if (depth === 1) found(start, at + 1);
    }
  }
}

function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
  return json.length;
}
