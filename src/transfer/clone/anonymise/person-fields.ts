import type { Field } from '../../../schema/model.ts';

/** Names of fields that identify a person, or by which a person can be reached. */
const identifying: readonly RegExp[] = [
  /phone|mobile|^cell|fax|whatsapp/i,
  /mail/i,
  /^(?:cc|bcc|to|from|reply_?to|caller|destination)$/i,
  /user_?name|(?:^|_)ip(?:_|$)/i,
  /^(?:company_?id|id_?num(?:ber)?|identity|passport|ssn|tax_?(?:id|number)|vat_?(?:id|number))$/i,
  /birth|^dob$/i,
  /iban|account_?number|card_?number|bank/i,
];

/** The same, of names that lists of values have too. */
const personal: readonly RegExp[] = [
  /^(?:[fl]_)?name$|(?:first|last|full|middle|display|contact|customer|sender|representative|maiden)_?name$|surname/i,
  /address|street|zip|postal|apartment/i,
  /comment|content|message|^body|^subject|^notes?$|description|signature|transcript/i,
];

const types: ReadonlySet<Field['type']> = new Set(['String', 'HTML/XML', 'Number', 'Date', 'Array', 'Object']);

/** Whether a field, by its name, holds data of persons. @param isList whether its table holds definitions or lists of values */
export function isAboutPersons({ name, type }: Pick<Field, 'name' | 'type'>, isList: boolean): boolean {
  if (!types.has(type) || name.startsWith('_')) return false;
  return [...identifying, ...(isList ? [] : personal)].some((pattern) => pattern.test(name));
}
