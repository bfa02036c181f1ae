import type { JsonObject } from '../../kernel/json.ts';
import { digitsOf } from '../../kernel/phone-key.ts';
import type { TableSchema } from '../../schema/model.ts';
import type { CrmContext } from '../context.ts';
import { visibleFields } from '../queries/field-visibility.ts';
import { findRows, type Row, requireFind } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { titleFieldsOf, titleOf } from '../wire/titles.ts';
import { numberOf, phoneTerms } from './phones.ts';
import { type SearchFields, searchFieldsOf } from './search-fields.ts';
import { equalsText, folded } from './text-match.ts';

/** Known properties of a person or company. */
export interface Known {
  readonly phone?: string | undefined;
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly companyId?: string | undefined;
}

/** A property: the fields and constraints that find it, and a check of found records. */
interface Criterion {
  readonly what: keyof Known;
  readonly fields: readonly string[];
  readonly terms: readonly JsonObject[];
  readonly holds: (row: Row) => boolean;
}

/**
 * Returns the records of a table that share at least one property, with the matching properties.
 * @throws invalidArguments (107) if no property is given, or the table has no field for one; permissionDenied (119)
 */
export async function duplicatesOf(context: CrmContext, table: TableSchema, known: Known, limit: number): Promise<JsonObject[]> {
  await requireFind(context, table.className);
  const fields = searchFieldsOf(context, table);
  const criteria = [
    ...(known.phone === undefined ? [] : [await byPhone(context, table, fields, known.phone)]),
    ...(known.email === undefined ? [] : [byEmail(fields, known.email)]),
    ...(known.companyId === undefined ? [] : [byCompanyId(fields, known.companyId)]),
    ...(known.name === undefined ? [] : [byName(fields, known.name)]),
  ];
  if (criteria.length === 0) badArguments('send a phone, an email, a name or a companyId');
  for (const { what, fields: places } of criteria)
    if (places.length === 0)
      badArguments(`${table.className} has no field for ${what} that you may search`, { next: 'Get-Schema' });
  const places = criteria.flatMap((criterion) => [...criterion.fields]);
  const shown = [...new Set([...visibleFields(context, table, [...titleFieldsOf(table), 'IsAccount']), ...places])];
  const where = { $or: criteria.flatMap(({ terms }) => [...terms]) };
  const rows = await findRows(context, table.className, { where, keys: ['objectId', ...shown], limit, order: 'createdAt' });
  return rows.map((row) => {
    const matchedOn = criteria.filter(({ holds }) => holds(row)).map(({ what }) => what);
    const name = titleOf(row);
    const values = shown.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]] as const]));
    return { objectId: row.objectId, ...(name !== undefined && { Name: name }), matchedOn, ...Object.fromEntries(values) };
  });
}

async function byPhone(
  context: CrmContext,
  table: TableSchema,
  { phones, phoneCounts }: SearchFields,
  phone: string,
): Promise<Criterion> {
  const key = numberOf(phone);
  if (key === null || key.length < 3) badArguments('phone has too few digits', { expected: 'A phone such as 050-1234567' });
  const fields = [...phones, ...phoneCounts];
  const terms = await phoneTerms(context, table, fields, { key, isWhole: true });
  return { what: 'phone', fields, terms, holds: anyOf(fields, (value) => numberOf(value) === key) };
}

function byEmail({ emails }: SearchFields, email: string): Criterion {
  const terms = emails.map((field) => equalsText(field, email));
  return { what: 'email', fields: emails, terms, holds: anyOf(emails, (value) => folded(value) === folded(email)) };
}

/** Company and identity numbers are written with or without separators. */
function byCompanyId({ companyIds: fields }: SearchFields, companyId: string): Criterion {
  const digits = digitsOf(companyId);
  const pattern = { $regex: `^[^0-9]*${[...digits].join('[^0-9]*')}[^0-9]*$` };
  const terms = fields.map((field): JsonObject => (digits === '' ? equalsText(field, companyId) : { [field]: pattern }));
  const same = (value: string) => (digits === '' ? folded(value) === folded(companyId) : digitsOf(value) === digits);
  return { what: 'companyId', fields, terms, holds: anyOf(fields, same) };
}

/** Pairs of fields that hold a name in two parts. */
const parts = [
  ['FirstName', 'LastName'],
  ['F_name', 'L_name'],
] as const;

function byName({ names: all }: SearchFields, name: string): Criterion {
  const names = all.includes('Name') ? ['Name'] : all.filter((field) => !parts.some((pair) => pair.some((one) => one === field)));
  const pairs = parts.filter((pair) => pair.every((field) => all.includes(field)));
  const words = folded(name).split(' ');
  const splits = words.slice(1, 4).map((_, at) => [words.slice(0, at + 1).join(' '), words.slice(at + 1).join(' ')] as const);
  const terms = [
    ...names.map((field) => equalsText(field, name)),
    ...pairs.flatMap(([first, last]) => [
      { $and: [equalsText(first, name), { [last]: { $exists: false } }] },
      ...splits.map(([start, end]): JsonObject => ({ $and: [equalsText(first, start), equalsText(last, end)] })),
    ]),
  ];
  const inPair = (row: Row) => pairs.some(([first, last]) => folded(`${row[first] ?? ''} ${row[last] ?? ''}`) === folded(name));
  const inName = anyOf(names, (value) => folded(value) === folded(name));
  return { what: 'name', fields: [...names, ...pairs.flat()], terms, holds: (row) => inName(row) || inPair(row) };
}

const anyOf =
  (fields: readonly string[], test: (value: string) => boolean) =>
  (row: Row): boolean =>
    fields.some((field) => {
      const value = row[field];
      return (typeof value === 'string' || typeof value === 'number') && test(String(value));
    });
