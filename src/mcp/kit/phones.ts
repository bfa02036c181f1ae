import type { JsonObject } from '../../kernel/json.ts';
import { digitsOf, phoneKey } from '../../kernel/phone-key.ts';
import { readRows } from '../../records/index.ts';
import type { TableSchema } from '../../schema/model.ts';
import { derivedFieldsOf } from '../../schema/system-tables.ts';
import type { ToolCall } from '../tools/tool.ts';

/** Digits of a number that somebody looks for; none has more. */
const MOST_DIGITS = 20;
/** Fewer are a part of a number. */
const WHOLE = 7;
const LEAST = 3;
/** So many records that have the numbers are looked at: a `where` has 2,000 constraints. */
const MOST_SAME = 1_900;

/** A telephone number that is looked for. */
export interface SoughtPhone {
  /** By which numbers are compared, or the digits of a part of one. */
  readonly key: string;
  readonly isWhole: boolean;
}

/** What a text asks for as a telephone number; `null` where it is none. */
export function soughtPhone(text: string): SoughtPhone | null {
  const digits = digitsOf(text);
  if (!/^[\d\s+\-().,/\u00a0\u2010-\u2015]+$/.test(text) || digits.length < LEAST || digits.length > MOST_DIGITS) return null;
  if (digits.length < WHOLE) return { key: digits, isWhole: false };
  const key = phoneKey(text);
  return key === null ? null : { key, isWhole: true };
}

const GAP = '[^0-9]*';

/** A pattern for every stored form of a number (SPEC "`getlead`": duplicate detection): its digits, a leading 0 as 972 too. */
export function phonePattern({ key, isWhole }: SoughtPhone): string {
  if (!isWhole) return [...key].join(GAP);
  const [first, ...rest] = [...key];
  const start = first === '0' ? `(?:0|9${GAP}7${GAP}2)` : (first ?? '');
  return `^${GAP}${[start, ...rest].join(GAP)}${GAP}$`;
}

/** The forms in which a number is usually stored, for tables that have no key of it: of a national number, and landlines. */
export function usualForms(key: string): string[] {
  if (!key.startsWith('0')) return [key, `+${key}`];
  const local = key.slice(1);
  const forms = [2, 3].flatMap((area) => {
    const start = key.slice(0, area);
    const end = key.slice(area);
    const parts = end.length === 7 ? [[start, end.slice(0, 3), end.slice(3)]] : [];
    return [[start, end], ...parts].flatMap(([code = '', ...rest]) =>
      ['-', ' '].flatMap((gap) => [[code, ...rest].join(gap), ['+972', code.slice(1), ...rest].join(gap)]),
    );
  });
  return [key, `972${local}`, `+972${local}`, `+972-${local}`, ...forms];
}

/** Constraints of which a record meets one that has the number in one of the fields. As the caller: the fields are named in them. */
export async function phoneTerms(
  { context }: ToolCall,
  table: TableSchema,
  fields: readonly string[],
  phone: SoughtPhone,
): Promise<JsonObject[]> {
  const terms = fields.map(async (field): Promise<JsonObject> => {
    const ids = phone.isWhole ? await idsByKey(context.store, table, field, [phone.key]) : null;
    return ids ? byIds(field, [...ids.keys()]) : { [field]: { $regex: phonePattern(phone) } };
  });
  return Promise.all(terms);
}

/** Records by id, of those whose field the caller may ask about. */
export const byIds = (field: string, ids: readonly string[]): JsonObject => ({
  objectId: { $in: [...ids] },
  [field]: { $exists: true },
});

/**
 * By objectId the keys of the records that have one of the numbers, found by an index; `null` where the table has none for the field.
 * Beyond every permission: what is answered has to be read as the caller.
 */
export async function idsByKey(
  store: ToolCall['context']['store'],
  table: TableSchema,
  field: string,
  keys: readonly string[],
): Promise<Map<string, string> | null> {
  const derived = derivedFieldsOf(table.className).get(field)?.field;
  if (derived === undefined || !table.fields.has(derived)) return null;
  const rows = await readRows<Record<string, string>>(store, {
    className: table.className,
    fields: ['objectId', derived],
    filter: ({ fields }) => {
      const found = fields.get(derived);
      return found ? { kind: 'in', field: found, values: keys } : null;
    },
    limit: MOST_SAME,
  });
  return new Map(rows.map((row) => [row.objectId ?? '', row[derived] ?? '']));
}
