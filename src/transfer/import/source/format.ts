import { extname } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Holder } from './json-elements.ts';

/** The forms of files (CONTRACT "Export, import, migration"). */
export const formats = ['csv', 'ndjson', 'json', 'parse', 'mongoexport'] as const;
export type Format = (typeof formats)[number];

/** How a file is to be read. */
export interface Form {
  readonly format: Format;
  /** Where its records are; `lines` and `rows`: one a line. */
  readonly holder: Holder | 'lines' | 'rows';
}

/** Bytes by which the form of a file is known. */
export const SAMPLE_BYTES = 4096;

/** How an answer of Parse's REST interface begins, which holds nothing but records and their count. */
const answer = /^\{\s*(?:"count"\s*:\s*\d+\s*,\s*)?"results"\s*:\s*\[/;

const lineExtensions: ReadonlySet<string> = new Set(['.ndjson', '.jsonl']);

/**
 * The form of a file.
 * @param asked by its name; `auto`: by its first bytes, of what is no JSON by the ending of its name too
 * @param start its beginning
 * @param hasResults whether the table has a field `results`: a line may begin as an answer of Parse does then
 * @throws OperatorError where it has not the form that is asked for
 */
export function formOf(asked: Format | 'auto', start: string, fileName: string, hasResults: boolean): Form {
  const text = start.replace(/^\uFEFF/, '').trimStart();
  if (asked === 'csv') return { format: 'csv', holder: 'rows' };
  if (asked === 'ndjson') return { format: 'ndjson', holder: 'lines' };
  const isList = text.startsWith('[');
  const isAnswer = answer.test(text);
  if (asked === 'mongoexport') return { format: asked, holder: isList ? 'list' : 'file' };
  if (asked === 'parse') return { format: asked, holder: isList ? 'list' : isAnswer ? 'results' : 'file' };
  if (asked === 'json') {
    if (!isList && !isAnswer) throw new OperatorError('the file is neither a list of objects nor {"results": [...]}');
    return { format: asked, holder: isList ? 'list' : 'results' };
  }
  if (isList) return { format: isMongo(text) ? 'mongoexport' : 'json', holder: 'list' };
  if (!text.startsWith('{')) {
    const isLines = lineExtensions.has(extname(fileName).toLowerCase());
    return isLines ? { format: 'ndjson', holder: 'lines' } : { format: 'csv', holder: 'rows' };
  }
  if (isAnswer && !hasResults) return { format: 'parse', holder: 'results' };
  return isMongo(text) ? { format: 'mongoexport', holder: 'file' } : { format: 'ndjson', holder: 'lines' };
}

/** Keys that MongoDB, and Parse in it, give to documents. */
const mongoKeys = ['_id', '_created_at', '_updated_at'] as const;
const mongoKey = /^(?:\[\s*)?\{\s*"(?:_id|_created_at|_updated_at)"\s*:/;

/** Whether a file begins with a document of MongoDB: its first object has keys that no field may have. */
function isMongo(text: string): boolean {
  if (mongoKey.test(text)) return true;
  const first = firstObject(text);
  return first !== null && mongoKeys.some((key) => Object.hasOwn(first, key));
}

/** The first line, where it is a whole object. */
function firstObject(text: string): JsonObject | null {
  const [line = ''] = text.replace(/^\[\s*/, '').split('\n', 1);
  try {
    const value = JSON.parse(line.replace(/[,\]]\s*$/, '')) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}
