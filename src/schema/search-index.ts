import { type Field, isOwnIndex, type TableIndex, type TableSchema } from './model.ts';

/** What people search for in a field. */
export type SearchRole = 'name' | 'phone' | 'phoneCount' | 'email' | 'number' | 'count';

const phone = /phone|mobile|^cell|^caller$|^destination$/i;
const email = /mail/i;
const companyId = /^(?:companyid|company_?number|id_?num(?:ber)?|vat_?(?:id|number)|tax_?(?:id|number))$/i;
const number = /number$|^sku$|^externalid$|^identity$/i;
const name = /name$|^title$|^subject$/i;

/** Whether a field, by its name, holds the registration number of a company or a person. */
export const isCompanyId = (field: string): boolean => companyId.test(field);

/** Returns the role of a field in searches, one at most: `PhoneNumber` is a phone, not a number. `null` if it is not searched. */
export function searchRole({ name: field, type }: Pick<Field, 'name' | 'type'>): SearchRole | null {
  if (type === 'Number') {
    if (phone.test(field)) return 'phoneCount';
    return number.test(field) ? 'count' : null;
  }
  if (type !== 'String') return null;
  if (phone.test(field)) return 'phone';
  if (email.test(field)) return 'email';
  if (number.test(field) || companyId.test(field)) return 'number';
  return name.test(field) ? 'name' : null;
}

/** Maximum number of columns of one index in PostgreSQL. */
const MAX_FIELDS = 32;

/** Name of the index of the words by which records of a table are searched (adr/0024). */
export const SEARCH_INDEX = '~search';

/** Number of leading characters of a text whose words are indexed. */
export const MAX_SEARCHED_LENGTH = 200;

/** The last digits of a phone are indexed behind this letter: they are the same in all notations of a number. */
export const PHONE_END = { letter: 'p', digits: 7 } as const;

/** Returns the search index that a table should have; `null` for the service's own tables and tables without searched fields. */
export function wantedSearchIndex({ className, fields }: TableSchema): TableIndex | null {
  if (className.startsWith('_')) return null;
  const keys = [...fields.values()].filter((field) => searchRole(field) !== null && !field.name.startsWith('_'));
  return keys.length === 0 ? null : { name: SEARCH_INDEX, keys: keys.slice(0, MAX_FIELDS).map((field) => [field.name, 1]) };
}

/** Whether a table has the search index that it should have, and searches may use it. */
export const hasSearchIndex = (table: TableSchema): boolean => isWanted(table) && fillingIndex(table) === undefined;

/** Whether that index is still being filled. */
export const fillsSearchIndex = (table: TableSchema): boolean => isWanted(table) && fillingIndex(table) !== undefined;

function isWanted(table: TableSchema): boolean {
  const wanted = wantedSearchIndex(table);
  const found = table.indexes.get(SEARCH_INDEX);
  return wanted !== null && found !== undefined && JSON.stringify(found.keys) === JSON.stringify(wanted.keys);
}

/** Returns the search index of a table that is being filled, even if its fields are outdated. */
export function fillingIndex({ indexes }: Pick<TableSchema, 'indexes'>): TableIndex | undefined {
  const index = indexes.get(SEARCH_INDEX);
  return index?.isFilling ? index : undefined;
}

/** Returns the indexes of a table that clients know. */
export const clientIndexes = ({ indexes }: Pick<TableSchema, 'indexes'>): TableIndex[] =>
  [...indexes.values()].filter(({ name: index }) => !isOwnIndex(index));
