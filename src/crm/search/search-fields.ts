import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { isCompanyId, type SearchRole, searchRole } from '../../schema/search-index.ts';
import type { CrmContext } from '../context.ts';
import { askable } from '../queries/field-visibility.ts';

/** The fields of a table by what people look records up by; those that the caller may ask about. */
export interface SearchFields {
  readonly names: readonly string[];
  readonly phones: readonly string[];
  /** Phones in fields of type Number. */
  readonly phoneCounts: readonly string[];
  readonly emails: readonly string[];
  /** Numbers that a document or a person goes by, as text. */
  readonly numbers: readonly string[];
  /** The same in fields of type Number. No phones. */
  readonly counts: readonly string[];
  /** Numbers of a company or a person; in `numbers` too. */
  readonly companyIds: readonly string[];
}

/** Fields have one meaning at most (`searchRole`). */
export function searchFieldsOf(context: CrmContext, table: TableSchema): SearchFields {
  const all = askable(context, table, table.fields.keys());
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
