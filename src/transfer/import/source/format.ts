import { extname } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Holder } from './json-elements.ts';

/** File formats. Reference: import.md#forms-of-a-file. */
export const formats = ['csv', 'ndjson', 'json', 'parse', 'mongoexport'] as const;
export type Format = (typeof formats)[number];

/** How to read a file. */
export interface Form {
  readonly format: Format;
  /** Location of the records; `lines` and `rows` have one per line. */
  readonly holder: Holder | 'lines' | 'rows';
}

/** Number of bytes examined to detect the format. */
export const SAMPLE_BYTES = 4096;

/** Start of an answer of Parse's REST interface that contains only records and their count. */
const answer = /^\{\s*(?:"count"\s*:\s*\d+\s*,\s*)?"results"\s*:\s*\[/;

const lineExtensions: ReadonlySet<string> = new Set(['.ndjson', '.jsonl']);

/**
 * Determines the format of a file.
 * @param requested a format, or `auto` to detect it from the first bytes and, unless these are JSON, the extension
 * @param start first bytes of the file
 * @param hasResults whether the table has a field `results`, so that a line may look like an answer of Parse
 * @throws OperatorError if the file does not have the requested format
 */
export function formOf(requested: Format | 'auto', start: string, fileName: string, hasResults: boolean): Form {
  const text = start.replace(/^\uFEFF/, '').trimStart();
  if (requested === 'csv') return { format: 'csv', holder: 'rows' };
  if (requested === 'ndjson') return { format: 'ndjson', holder: 'lines' };
  const isList = text.startsWith('[');
  const isAnswer = answer.test(text);
  if (requested === 'mongoexport') return { format: requested, holder: isList ? 'list' : 'file' };
  if (requested === 'parse') return { format: requested, holder: isList ? 'list' : isAnswer ? 'results' : 'file' };
  if (requested === 'json') {
    if (!isList && !isAnswer) throw new OperatorError('the file is neither a list of objects nor {"results": [...]}');
    return { format: requested, holder: isList ? 'list' : 'results' };
  }
  if (isList) return { format: isMongo(text) ? 'mongoexport' : 'json', holder: 'list' };
  if (!text.startsWith('{')) {
    const isLines = lineExtensions.has(extname(fileName).toLowerCase());
    return isLines ? { format: 'ndjson', holder: 'lines' } : { format: 'csv', holder: 'rows' };
  }
  if (isAnswer && !hasResults) return { format: 'parse', holder: 'results' };
  return isMongo(text) ? { format: 'mongoexport', holder: 'file' } : { format: 'ndjson', holder: 'lines' };
}

/** Document keys of MongoDB, and of Parse in MongoDB. */
const mongoKeys = ['_id', '_created_at', '_updated_at'] as const;
const mongoKey = /^(?:\[\s*)?\{\s*"(?:_id|_created_at|_updated_at)"\s*:/;

/** Whether a file begins with a MongoDB document: its first object has keys that no field may have. */
function isMongo(text: string): boolean {
  if (mongoKey.test(text)) return true;
  const first = firstObject(text);
  return first !== null && mongoKeys.some((key) => Object.hasOwn(first, key));
}

/** Returns the first line if it is a complete object. */
function firstObject(text: string): JsonObject | null {
  const [line = ''] = text.replace(/^\[\s*/, '').split('\n', 1);
  try {
    const value = JSON.parse(line.replace(/[,\]]\s*$/, '')) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
