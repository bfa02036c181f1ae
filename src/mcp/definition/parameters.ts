import { z } from 'zod';
import { ServiceError } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { parseIsoDate, parseRequestJson } from '../../values/index.ts';
import { tell } from './schema.ts';

/** SPEC "Limits": `limit` of Get-Data and Aggregate-Data; other tools keep to it. */
export const MAX_ROWS = 2_000;
/** Records of one call that writes many. */
export const MAX_RECORDS = 1_000;

/** A text that is not empty. */
export const text = (most = 10_000) => tell(z.string().min(1, 'must not be empty').max(most), { type: 'string' });

/** The name of a table, in any spelling: the tool looks it up. */
export const table = () => text(128);

/** An objectId; under a key records may have ids of other lengths than 10 (SPEC "Records"), so that any text is looked up. */
export const objectId = () => text(2_000);

/** SPEC "Agent-tool layer (MCP)": exactly 10 characters. */
export const recordId = () => z.string().length(10, 'must have exactly 10 characters');

/** SPEC "Limits": ids of pages, menus and sites. */
export const siteId = () =>
  tell(z.string().regex(/^[0-9a-f]{24}$/, 'must have 24 hexadecimal characters'), { type: 'string', pattern: '^[0-9a-f]{24}$' });

/** How many rows a call answers at most. */
export const count = (most = MAX_ROWS) =>
  z.int('must be a whole number').min(0, 'must not be negative').max(most, `must be at most ${most}`);

/** The same, with what counts where it is left out. */
export const limit = (usual: number, most = MAX_ROWS) => count(most).default(usual);

/** Rows to pass over: `nextSkip` of the answer before. */
export const skip = () => z.int('must be a whole number').min(0, 'must not be negative').default(0);

export const flag = () => z.boolean();

export const names = (most = 2_000) =>
  tell(z.array(z.string().min(1).max(1_000)).max(most), { type: 'array', items: { type: 'string' } });

/** A list holds records, or objects that hold them. */
const TEXT_LEVELS = limits.jsonDepth + 2;

/** Some models send JSON as text: it is held to what a body is held to. */
function unpacked(value: unknown, { issues }: { readonly issues: z.core.$ZodRawIssue[] }): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return parseRequestJson(value, TEXT_LEVELS);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    issues.push({ code: 'custom', message: error.message, input: value });
    return z.NEVER;
  }
}

const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be an object');

/** A JSON object. @param description what is in it, where the name does not say so */
export const object = (description?: string) =>
  tell(z.preprocess(unpacked, jsonObject), { type: 'object', ...(description === undefined ? {} : { description }) });

/** A list of JSON objects. */
export const objects = (most = MAX_RECORDS, least = 1) =>
  tell(z.preprocess(unpacked, z.array(jsonObject).min(least, 'must not be empty').max(most, `must have at most ${most} items`)), {
    type: 'array',
    items: { type: 'object' },
  });

/** An instant in ISO 8601, as an answer told it; without a zone it is of UTC. */
export const instant = () =>
  tell(
    z
      .string()
      .refine((value) => parseIsoDate(value) !== null, 'must be a date and time in ISO 8601, such as 2026-01-31T09:00:00Z'),
    { type: 'string', format: 'date-time' },
  );

/** A day, or a time, which is of the system's time zone where it names none (`crm/time/range.ts`); years of four digits. */
export const localTime = () =>
  tell(
    z
      .string()
      .refine(
        (value) => /^\d{4}-/.test(value) && parseIsoDate(value) !== null,
        'must be a day or a time in ISO 8601, such as 2026-01-31, 2026-01-31T09:00 or 2026-01-31T09:00:00Z',
      ),
    { type: 'string', description: 'ISO 8601; system time zone by default' },
  );

export const choice = <const Values extends readonly [string, ...string[]]>(values: Values) => z.enum(values);
