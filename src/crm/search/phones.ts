import { grantFor } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { digitsOf, phoneKey } from '../../kernel/phone-key.ts';
import type { TableSchema } from '../../schema/model.ts';
import { derivedFieldsOf } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { unscopedRows } from '../queries/unscoped-reads.ts';

/** Maximum number of digits in a search; no phone number has more. */
const MAX_DIGITS = 20;
/** Shorter digit sequences are treated as a part of a number. */
const MIN_WHOLE_DIGITS = 7;
const MIN_DIGITS = 3;
/** Maximum number of records with the same number: a `where` takes 2,000 constraints. */
const MAX_SAME_PHONE = 1_900;

/** A phone number to search for. */
export interface PhoneQuery {
  /** The normalised number (`numberOf`), or the digits of a part. */
  readonly key: string;
  readonly isWhole: boolean;
}

/** National numbers without their leading 0, which spreadsheets drop: mobile and similar with nine digits, landlines with eight. */
const LOCAL = /^(?:[57]\d{8}|[23489]\d{7})$/;

/**
 * Normalises a phone number for searches. Normalises further than the rule of forms (functions.md#getlead): drops the 00 before a country code and a
 * 0
 * after 972, and restores the leading 0 of a national number. Reference: agents.md#search-and-duplicates.
 * @returns `null` as `phoneKey` does
 */
export function numberOf(text: string): string | null {
  const key = phoneKey(text)?.replace(/^00972/, '0');
  if (key === undefined) return null;
  const bare = key.replace(/^00/, '');
  if (LOCAL.test(bare)) return `0${bare}`;
  return bare === '' ? key : bare;
}

/** Returns all stored keys that normalise to a number. @param number from `numberOf` */
function keysOf(number: string): string[] {
  const local = number.slice(1);
  if (!number.startsWith('0')) return [number, `00${number}`];
  return [number, `0${number}`, `00972${local}`, `009720${local}`, ...(LOCAL.test(local) ? [local] : [])];
}

/** Interprets a text as a phone number; `null` if it is none. */
export function phoneQueryOf(text: string): PhoneQuery | null {
  const digits = digitsOf(text);
  if (!/^[\d\s+\-().,/\u00a0\u2010-\u2015]+$/.test(text) || digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return null;
  if (digits.length < MIN_WHOLE_DIGITS) return { key: digits, isWhole: false };
  const key = numberOf(text);
  return key === null ? null : { key, isWhole: true };
}

const GAP = '[^0-9]*';

/** Returns a pattern for every stored form of a number: its digits with any separators. */
export function phonePattern({ key, isWhole }: PhoneQuery): string {
  if (!isWhole) return spaced(key);
  if (!key.startsWith('0')) return `^${GAP}(?:${spaced('00')}${GAP})?${spaced(key)}${GAP}$`;
  const local = key.slice(1);
  return `${startOf(LOCAL.test(local))}${spaced(local)}${GAP}$`;
}

/** Returns a pattern for the prefix of a national number without its 0. @param isFree whether the prefix may be missing */
const startOf = (isOptional: boolean): string =>
  `^${GAP}(?:(?:${spaced('00')}${GAP})?${spaced('972')}${GAP}(?:0${GAP})?|0${GAP})${isOptional ? '?' : ''}`;

/** Whether a number is incomplete: a national one with too few digits. */
export const isBegun = ({ key, isWhole }: PhoneQuery): boolean =>
  isWhole && key.startsWith('0') && key.length < 10 && !LOCAL.test(key.slice(1));

/** Returns a pattern for the stored forms of all numbers that begin with these digits. */
export const begunPattern = ({ key }: PhoneQuery): string => `${startOf(false)}${spaced(key.slice(1))}`;

const spaced = (digits: string): string => [...digits].join(GAP);

/** Returns the common forms of a national number, for tables without a derived key. */
export function commonForms(key: string): string[] {
  if (!key.startsWith('0')) return [key, `+${key}`, `00${key}`];
  const local = key.slice(1);
  const forms = [2, 3].flatMap((area) => {
    const start = key.slice(0, area);
    const end = key.slice(area);
    const parts = end.length === 7 ? [[start, end.slice(0, 3), end.slice(3)]] : [];
    return [[start, end], ...parts].flatMap(([code = '', ...rest]) =>
      ['-', ' '].flatMap((gap) => [[code, ...rest].join(gap), ['+972', code.slice(1), ...rest].join(gap)]),
    );
  });
  const abroad = ['972', '+972', '00972', '9720', '+9720'].map((start) => `${start}${local}`);
  return [key, ...abroad, `+972-${local}`, ...(LOCAL.test(local) ? [local] : []), ...forms];
}

/** Returns constraints, one of which a record with the number meets. Each names its field, so that the caller's rights to it are checked. */
export async function phoneTerms(
  context: CrmContext,
  table: TableSchema,
  fields: readonly string[],
  phone: PhoneQuery,
): Promise<JsonObject[]> {
  const terms = fields.map(async (field): Promise<JsonObject> => {
    if (table.fields.get(field)?.type === 'Number') return { [field]: { $in: countsOf(phone) } };
    const ids = phone.isWhole ? await idsByKey(context, table, field, [phone.key]) : null;
    return ids ? byIds(field, [...ids.keys()]) : { [field]: { $regex: phonePattern(phone) } };
  });
  return Promise.all(terms);
}

/** Returns the values of a Number field for a phone: leading zeros are lost. */
export function countsOf({ key, isWhole }: PhoneQuery): number[] {
  const forms = isWhole
    ? [key, ...keysOf(key), ...(key.startsWith('0') ? [`972${key.slice(1)}`, `9720${key.slice(1)}`] : [])]
    : [key];
  return [...new Set(forms.map(Number))].filter(Number.isSafeInteger);
}

/** Matches records by id; naming the field makes the caller's rights to it apply. */
export const byIds = (field: string, ids: readonly string[]): JsonObject => ({
  objectId: { $in: [...ids] },
  [field]: { $exists: true },
});

/**
 * Returns the records with one of the numbers by objectId, found through the index of the derived key, as far as the caller may find them; `null` if
 * the
 * field has no such index. The caller's rights to the field are not checked here.
 * @param numbers from `numberOf`
 */
export async function idsByKey(
  { store, principal }: CrmContext,
  table: TableSchema,
  field: string,
  numbers: readonly string[],
): Promise<Map<string, string> | null> {
  const derived = derivedFieldsOf(table.className).get(field)?.field;
  if (derived === undefined || !table.fields.has(derived)) return null;
  const query = {
    className: table.className,
    field: derived,
    values: [...new Set(numbers.flatMap(keysOf))],
    keys: ['objectId', derived],
    limit: MAX_SAME_PHONE,
    // Otherwise records that the caller may not find would use up the limit.
    grant: grantFor(principal, 'find', table, store.schema()),
  };
  const rows = await unscopedRows<Record<string, string>>(store, query);
  return new Map(rows.map((row) => [row.objectId ?? '', row[derived] ?? '']));
}
