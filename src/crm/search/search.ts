import type { JsonObject } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { queryableFields, visibleFields } from '../queries/field-visibility.ts';
import type { Row } from '../queries/records.ts';
import { titleFieldsOf, titleOf } from '../wire/titles.ts';
import { indexQueryOf } from './index-query.ts';
import { readMatches } from './matches.ts';
import { begunPattern, isBegun, numberOf, type PhoneQuery, phoneQueryOf, phoneTerms } from './phones.ts';
import { type SearchFields, searchFieldsOf } from './search-fields.ts';
import { contains, folded } from './text-match.ts';

/** A query with more words is searched as one text. */
const MAX_WORDS = 8;
const ID = /^[A-Za-z0-9]{10}$/;

/** A record found by a search. */
export interface Found {
  /** 0 if a value equals the query, 1 if a value begins with it, else 2. */
  readonly rank: number;
  readonly shown: JsonObject;
}

/** Sorts better matches first; stable within a rank. */
export const byRank = (a: Found, b: Found): number => a.rank - b.rank;

/**
 * Returns the records of a table that match a query: all its words in names, numbers and addresses, or a phone in any form, a number, an objectId.
 * @throws permissionDenied (119)
 */
export async function searchTable(context: CrmContext, table: TableSchema, query: string, limit: number): Promise<Found[]> {
  const fields = searchFieldsOf(context, table);
  const phone = phoneQueryOf(query);
  const $or = [
    ...wordTerms(textsOf(fields), query),
    ...(phone ? await phoneTerms(context, table, phonesOf(fields), phone) : []),
    ...(phone && isBegun(phone) ? fields.phones.map((field) => ({ [field]: { $regex: begunPattern(phone) } })) : []),
    ...numberTerms(fields, query),
    ...(ID.test(query.trim()) ? [{ objectId: query.trim() }] : []),
  ];
  const titles = visibleFields(context, table, titleFieldsOf(table));
  const searched = [...textsOf(fields), ...fields.phoneCounts, ...fields.counts];
  const [newest] = queryableFields(context, table, ['updatedAt']);
  const order = newest && `-${newest}`;
  const keys = ['objectId', ...titles, ...searched];
  const indexed = indexQueryOf(table, searched, phone, query);
  const rows = await readMatches(context, table, { terms: $or, keys, order, limit }, indexed);
  return rows.map((row) => foundOf(table.className, row, { searched, fields, phone, query: folded(query) }));
}

const phonesOf = ({ phones, phoneCounts }: SearchFields): string[] => [...phones, ...phoneCounts];
const textsOf = ({ names, phones, emails, numbers }: SearchFields): string[] => [...names, ...phones, ...emails, ...numbers];

function wordTerms(fields: readonly string[], query: string): JsonObject[] {
  if (fields.length === 0) return [];
  const parts = query.trim().split(/\s+/);
  const words = parts.length > MAX_WORDS ? [query.trim()] : parts;
  return [{ $and: words.map((word) => ({ $or: fields.map((field) => contains(field, word)) })) }];
}

function numberTerms({ counts }: SearchFields, query: string): JsonObject[] {
  const number = /^\s*#?\d{1,15}\s*$/.test(query) ? Number(query.replace('#', '')) : null;
  return number === null ? [] : counts.map((field) => ({ [field]: number }));
}

interface SearchTerms {
  readonly searched: readonly string[];
  readonly fields: SearchFields;
  readonly phone: PhoneQuery | null;
  readonly query: string;
}

/** Shows the matching values too, so that an agent knows the reason without reading the record. */
function foundOf(className: string, row: Row, { searched, fields, phone, query }: SearchTerms): Found {
  const words = query.split(' ');
  const matched: JsonObject = {};
  let rank = row.objectId.toLowerCase() === query ? 0 : 2;
  for (const field of searched) {
    const value = row[field];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const text = folded(String(value));
    const isPhone = phone !== null && phonesOf(fields).includes(field) && isSamePhone(String(value), phone);
    if (!isPhone && !words.some((word) => text.includes(word.replace(/^#/, '')))) continue;
    matched[field] = typeof value === 'string' ? value.slice(0, 200).toWellFormed() : value;
    if (text === query || (isPhone && phone.isWhole && !isBegun(phone))) rank = 0;
    else if (text.startsWith(query) || isPhone) rank = Math.min(rank, 1);
  }
  const name = titleOf(row);
  if (name !== undefined && folded(name) === query) rank = 0;
  return { rank, shown: { table: className, objectId: row.objectId, ...(name !== undefined && { Name: name }), matched } };
}

function isSamePhone(value: string, phone: PhoneQuery): boolean {
  if (!phone.isWhole) return value.replace(/\D+/g, '').includes(phone.key);
  return numberOf(value) === phone.key || (isBegun(phone) && numberOf(value)?.startsWith(phone.key) === true);
}
