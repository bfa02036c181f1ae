import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { isCompanyId, type SearchRole, searchRole } from '../../schema/search-index.ts';
import type { CrmContext } from '../context.ts';
import { queryableFields } from '../queries/field-visibility.ts';

/** Fields of a table that searches look at, by role, as far as the caller may query them. */
export interface SearchFields {
  readonly names: readonly string[];
  readonly phones: readonly string[];
  /** Phones in Number fields. */
  readonly phoneCounts: readonly string[];
  readonly emails: readonly string[];
  /** Numbers of documents or persons, in text fields. */
  readonly numbers: readonly string[];
  /** The same in Number fields, without phones. */
  readonly counts: readonly string[];
  /** Numbers of companies or persons; also in `numbers`. */
  readonly companyIds: readonly string[];
}

/** Groups fields by role. A field has at most one role (`searchRole`). */
export function searchFieldsOf(context: CrmContext, table: TableSchema): SearchFields {
  const all = queryableFields(context, table, table.fields.keys());
  const ofRole = (role: SearchRole) => all.filter((field) => searchRole(fieldOf(table, field)) === role);
  const numbers = ofRole('number');
  return {
    names: ofRole('name'),
    phones: ofRole('phone'),
    phoneCounts: ofRole('phoneCount'),
    emails: ofRole('email'),
    numbers,
    counts: ofRole('count'),
    companyIds: numbers.filter(isCompanyId),
  };
}
