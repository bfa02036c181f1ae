import type { TableSchema } from '../../schema/model.ts';
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

const phone = /phone|mobile|^cell|^caller$|^destination$/i;
const email = /mail/i;
const companyId = /^(?:companyid|company_?number|id_?num(?:ber)?|vat_?(?:id|number)|tax_?(?:id|number))$/i;
const number = /number$|^sku$|^externalid$|^identity$/i;
const name = /name$|^title$|^subject$/i;

/** Fields have one meaning at most: `PhoneNumber` is a phone, not a number. */
export function searchFieldsOf(context: CrmContext, table: TableSchema): SearchFields {
  const all = askable(context, table, table.fields.keys());
  const typed = (type: string) => all.filter((field) => table.fields.get(field)?.type === type);
  const texts = typed('String');
  const phones = texts.filter((field) => phone.test(field));
  const emails = texts.filter((field) => email.test(field));
  const rest = texts.filter((field) => !phone.test(field) && !email.test(field));
  const counts = typed('Number');
  const numbers = rest.filter((field) => number.test(field) || companyId.test(field));
  return {
    names: rest.filter((field) => name.test(field) && !numbers.includes(field)),
    phones,
    phoneCounts: counts.filter((field) => phone.test(field)),
    emails,
    numbers,
    counts: counts.filter((field) => number.test(field) && !phone.test(field)),
    companyIds: numbers.filter((field) => companyId.test(field)),
  };
}
