import { z } from 'zod';
import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { parseIsoDate, parseRequestJson } from '../../values/index.ts';
import { withJsonSchema } from './schema.ts';

/** Maximum `limit` of Get-Data and Aggregate-Data; other tools use it too. Reference: agents.md#limits-for-agents. */
export const MAX_ROWS = 2_000;
/** Maximum number of records that one call writes. */
export const MAX_RECORDS = 1_000;

/** A non-empty string. */
export const text = (max = 10_000) => withJsonSchema(z.string().min(1, 'must not be empty').max(max), { type: 'string' });

/** The name of a table; unknown names are reported by the tool. */
export const table = () => text(128);

/** An objectId of any length: with a key, records may be created with ids of other lengths than 10 (records.md#create). */
export const objectId = () => text(2_000);

/** An objectId of exactly 10 characters. Reference: agents.md#arguments. */
export const recordId = () => z.string().length(10, 'must have exactly 10 characters');

/** The id of a page, menu or site. Reference: agents.md#arguments. */
export const siteId = () =>
  withJsonSchema(z.string().regex(/^[0-9a-f]{24}$/, 'must have 24 hexadecimal characters'), {
    type: 'string',
    pattern: '^[0-9a-f]{24}$',
  });

/** Maximum number of rows in the answer. */
export const count = (max = MAX_ROWS) =>
  z.int('must be a whole number').min(0, 'must not be negative').max(max, `must be at most ${max}`);

/** Like `count`, with a default value. */
export const limit = (defaultValue: number, max = MAX_ROWS) => count(max).default(defaultValue);

/** Number of rows to skip: `nextSkip` of the previous answer. */
export const skip = () => z.int('must be a whole number').min(0, 'must not be negative').default(0);

export const flag = () => z.boolean();

export const names = (max = 2_000) =>
  withJsonSchema(z.array(z.string().min(1).max(1_000)).max(max), { type: 'array', items: { type: 'string' } });

/** Maximum nesting of JSON sent as text: a list holds records, or objects that hold records. */
const MAX_TEXT_LEVELS = limits.jsonDepth + 2;

/** Parses JSON that was sent as a string, as some models do, under the same limits as a body. */
function parseText(value: unknown, { issues }: { readonly issues: z.core.$ZodRawIssue[] }): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseRequestJson(value, MAX_TEXT_LEVELS);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    issues.push({ code: 'custom', message: error.message, input: value });
    return z.NEVER;
  }
}

const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be an object');

/** A JSON object. @param description what it contains, if its name does not say so */
export const object = (description?: string) =>
  withJsonSchema(z.preprocess(parseText, jsonObject), { type: 'object', ...(description === undefined ? {} : { description }) });

/** A list of JSON objects. */
export const objects = (max = MAX_RECORDS, min = 1) =>
  withJsonSchema(
    z.preprocess(parseText, z.array(jsonObject).min(min, 'must not be empty').max(max, `must have at most ${max} items`)),
    {
      type: 'array',
      items: { type: 'object' },
    },
  );

/** A timestamp in ISO 8601, as answers contain it; UTC if it has no zone. */
export const instant = () =>
  withJsonSchema(
    z
      .string()
      .refine((value) => parseIsoDate(value) !== null, 'must be a date and time in ISO 8601, such as 2026-01-31T09:00:00Z'),
    { type: 'string', format: 'date-time' },
  );

/** A day or a time, in the system's time zone if it has no zone (`crm/time/range.ts`); years have four digits. */
export const localTime = () =>
  withJsonSchema(
    z
      .string()
      .refine(
        (value) => /^\d{4}-/.test(value) && parseIsoDate(value) !== null,
        'must be a day or a time in ISO 8601, such as 2026-01-31, 2026-01-31T09:00 or 2026-01-31T09:00:00Z',
      ),
    { type: 'string', description: 'ISO 8601; system time zone by default' },
  );

export const choice = <const Values extends readonly [string, ...string[]]>(values: Values) => z.enum(values);
