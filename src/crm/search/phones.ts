import { grantFor } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { digitsOf, phoneKey } from '../../kernel/phone-key.ts';
import type { TableSchema } from '../../schema/model.ts';
import { derivedFieldsOf } from '../../schema/system-tables.ts';
import type { CrmContext } from '../context.ts';
import { storedRows } from '../queries/unscoped-reads.ts';

/** Digits of a number that somebody looks for; none has more. */
const MAX_DIGITS = 20;
/** Fewer are a part of a number. */
const MIN_WHOLE_DIGITS = 7;
const MIN_DIGITS = 3;
/** So many records that have the numbers are looked at: a `where` has 2,000 constraints. */
const MAX_SAME_PHONE = 1_900;

/** A telephone number that is looked for. */
export interface SoughtPhone {
  /** By which numbers are compared (`numberOf`), or the digits of a part of one. */
  readonly key: string;
  readonly isWhole: boolean;
}

/** National numbers without their 0, which spreadsheets drop: mobile ones and the like of nine digits, landlines of eight. */
const LOCAL = /^(?:[57]\d{8}|[23489]\d{7})$/;

/**
 * What searches compare a number by: its key, which has more forms here than in forms (CONTRACT "Forms and files"): the 00 in front of a
 * country is left out, a 0 after 972 too, and a national number has its 0.
 * @returns `null` as `phoneKey` does
 */
export function numberOf(text: string): string | null {
  const key = phoneKey(text)?.replace(/^00972/, '0');
  if (key === undefined) return null;
  const bare = key.replace(/^00/, '');
  if (LOCAL.test(bare)) return `0${bare}`;
  return bare === '' ? key : bare;
}

/** The keys that stand for one number, as they are stored. @param number of `numberOf` */
function keysOf(number: string): string[] {
  const local = number.slice(1);
  if (!number.startsWith('0')) return [number, `00${number}`];
  return [number, `0${number}`, `00972${local}`, `009720${local}`, ...(LOCAL.test(local) ? [local] : [])];
}

/** What a text asks for as a telephone number; `null` where it is none. */
export function soughtPhone(text: string): SoughtPhone | null {
  const digits = digitsOf(text);
  if (!/^[\d\s+\-().,/\u00a0\u2010-\u2015]+$/.test(text) || digits.length < MIN_DIGITS || digits.length > MAX_DIGITS) return null;
  if (digits.length < MIN_WHOLE_DIGITS) return { key: digits, isWhole: false };
  const key = numberOf(text);
  return key === null ? null : { key, isWhole: true };
}

const GAP = '[^0-9]*';

/** A pattern for every stored form of a number: its digits, whatever is between them. */
export function phonePattern({ key, isWhole }: SoughtPhone): string {
  if (!isWhole) return spaced(key);
  if (!key.startsWith('0')) return `^${GAP}(?:${spaced('00')}${GAP})?${spaced(key)}${GAP}$`;
  const local = key.slice(1);
  return `${startOf(LOCAL.test(local))}${spaced(local)}${GAP}$`;
}

/** What stands in front of a national number without its 0. @param isFree whether that may be nothing */
const startOf = (isFree: boolean): string =>
  `^${GAP}(?:(?:${spaced('00')}${GAP})?${spaced('972')}${GAP}(?:0${GAP})?|0${GAP})${isFree ? '?' : ''}`;

/** Whether a number is one that somebody has not typed to its end: a national one with too few digits. */
export const isBegun = ({ key, isWhole }: SoughtPhone): boolean =>
  isWhole && key.startsWith('0') && key.length < 10 && !LOCAL.test(key.slice(1));

/** A pattern for the stored forms of all numbers that begin so. */
export const begunPattern = ({ key }: SoughtPhone): string => `${startOf(false)}${spaced(key.slice(1))}`;

const spaced = (digits: string): string => [...digits].join(GAP);

/** The forms in which a number is usually stored, for tables that have no key of it: of a national number, and landlines. */
export function usualForms(key: string): string[] {
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

/** Constraints of which a record meets one that has the number in one of the fields. As the caller: the fields are named in them. */
export async function phoneTerms(
  context: CrmContext,
  table: TableSchema,
  fields: readonly string[],
  phone: SoughtPhone,
): Promise<JsonObject[]> {
  const terms = fields.map(async (field): Promise<JsonObject> => {
    if (table.fields.get(field)?.type === 'Number') return { [field]: { $in: countsOf(phone) } };
    const ids = phone.isWhole ? await idsByKey(context, table, field, [phone.key]) : null;
    return ids ? byIds(field, [...ids.keys()]) : { [field]: { $regex: phonePattern(phone) } };
  });
  return Promise.all(terms);
}

/** What a field of type Number holds of a phone: no number begins with 0. */
export function countsOf({ key, isWhole }: SoughtPhone): number[] {
  const forms = isWhole
    ? [key, ...keysOf(key), ...(key.startsWith('0') ? [`972${key.slice(1)}`, `9720${key.slice(1)}`] : [])]
    : [key];
  return [...new Set(forms.map(Number))].filter(Number.isSafeInteger);
}

/** Records by id, of those whose field the caller may ask about. */
export const byIds = (field: string, ids: readonly string[]): JsonObject => ({
  objectId: { $in: [...ids] },
  [field]: { $exists: true },
});

/**
 * The records that have one of the numbers, by objectId, found by an index, of those that the caller may find; `null` where the table has none
 * for the field. Whether he may ask about the field has to be seen by what is made of them.
 * @param numbers of `numberOf`
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
    // Else records that he may not find would take the places of his.
    grant: grantFor(principal, 'find', table, store.schema()),
  };
  const rows = await storedRows<Record<string, string>>(store, query);
  return new Map(rows.map((row) => [row.objectId ?? '', row[derived] ?? '']));
}
