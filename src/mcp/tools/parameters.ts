import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../kernel/json.ts';
import { parseIsoDate } from '../../values/iso.ts';
import { tell } from './schema.ts';

/** SPEC "Limits": `limit` of Get-Data and Aggregate-Data; other tools keep to it. */
export const MOST_ROWS = 2_000;
/** Records of one call that writes many. */
export const MOST_RECORDS = 1_000;

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

/** How many rows a call answers. */
export const limit = (usual: number, most = MOST_ROWS) =>
  z.int('must be a whole number').min(0, 'must not be negative').max(most, `must be at most ${most}`).default(usual);

/** Rows to pass over: `nextSkip` of the answer before. */
export const skip = () => z.int('must be a whole number').min(0, 'must not be negative').default(0);

export const flag = () => z.boolean();

export const names = (most = 2_000) =>
  tell(z.array(z.string().min(1).max(1_000)).max(most), { type: 'array', items: { type: 'string' } });

/** Some models send JSON as text. */
const unpacked = (value: unknown): unknown => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const jsonObject = z.custom<JsonObject>(isJsonObject, 'must be an object');

/** A JSON object. @param description what is in it, where the name does not say so */
export const object = (description?: string) =>
  tell(z.preprocess(unpacked, jsonObject), { type: 'object', ...(description === undefined ? {} : { description }) });

/** A list of JSON objects. */
export const objects = (most = MOST_RECORDS, least = 1) =>
  tell(z.preprocess(unpacked, z.array(jsonObject).min(least, 'must not be empty').max(most, `must have at most ${most} items`)), {
    type: 'array',
    items: { type: 'object' },
  });

/** An instant in ISO 8601; a date alone is its midnight in UTC. */
export const instant = () =>
  tell(
    z
      .string()
      .refine((value) => parseIsoDate(value) !== null, 'must be a date and time in ISO 8601, such as 2026-01-31T09:00:00Z'),
    { type: 'string', format: 'date-time' },
  );

export const choice = <const Values extends readonly [string, ...string[]]>(values: Values) => z.enum(values);
