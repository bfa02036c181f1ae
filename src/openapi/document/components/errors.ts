import { catalogue, type ErrorKey } from '../../../errors/catalogue.ts';
import { meanings } from '../../../errors/meanings.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { header, jsonOf, schema } from './refs.ts';

interface CatalogueEntry {
  readonly code?: number;
  readonly status: number;
  readonly text: (...args: string[]) => string;
}

const entries = Object.entries(catalogue) as [ErrorKey, CatalogueEntry][];

/** Each error of the catalogue as an example: its code, and its text with `…` for what varies. */
const examples: JsonObject = Object.fromEntries(
  entries.map(([key, { code, status, text }]) => {
    const error = text(...Array<string>(text.length).fill('…'));
    const value = { ...(code !== undefined && { code }), ...(error !== '' && { error }) };
    return [key, { summary: `${status}: ${meanings[key]}`, value }];
  }),
);

const codes = [...new Set(entries.flatMap(([, { code }]) => (code === undefined ? [] : [code])))].sort((a, b) => a - b);

/** Reference: errors.md#form-of-an-error. */
export const errorSchemas: Readonly<Record<string, JsonObject>> = {
  ErrorAnswer: {
    type: 'object',
    description: 'Some errors have no code, and one no text. Some have further members, which the examples of answers leave out.',
    properties: {
      code: { type: 'integer', enum: codes },
      error: { type: 'string' },
      inDoubt: { type: 'boolean', description: 'The write may have been done.' },
    },
    additionalProperties: true,
  },
};

/** Reference: errors.md#codes. */
export const errorResponses: Readonly<Record<string, JsonObject>> = {
  Error: {
    description: 'The status is that of the error, which the examples name. Retry 429 and 503 after `Retry-After`.',
    headers: { 'Retry-After': header('retryAfter') },
    content: jsonOf(schema('ErrorAnswer'), { examples }),
  },
  NotModified: { description: 'The client has this answer.' },
};
