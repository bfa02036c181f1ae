import type { FieldModel } from '../../../src/console/protocol/protocol.ts';

const LTR_NAME =
  /phone|mobile|fax|^tel(?:[^a-z]|$)|e-?mail|url|website|link|iban|swift|objectid|external_?id|company_?id|number|token|code$|_id$|^id$|username/i;
const LTR_TEXT = /^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?:\/\/\S+|\+?[\d\s().*#/-]{5,})$/;

/** Returns whether text always reads from left to right: ids, e-mail, phone, web addresses, code. */
export function isLtr(field: Pick<FieldModel, 'name' | 'type'> | null, text: string): boolean {
  if (text && LTR_TEXT.test(text.trim())) return true;
  return field?.type === 'String' && LTR_NAME.test(field.name) && !/[֐-ࣿ]/.test(text);
}

/**
 * Returns the direction of a control's text by its first letter, like `dir=auto`, which browsers treat differently if the text has no letter.
 * `undefined`: as the page.
 */
export function directionOf(field: Pick<FieldModel, 'name' | 'type'> | null, text: string): 'ltr' | 'rtl' | undefined {
  if (isLtr(field, text)) return 'ltr';
  const letter = /\p{L}/u.exec(text)?.[0];
  if (!letter) return undefined;
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(letter) ? 'rtl' : 'ltr';
}

/** Returns the link of a text (mail, phone, web page), or `null`. */
export function linkOf(field: Pick<FieldModel, 'name'>, text: string): string | null {
  const trimmed = text.trim();
  if (/^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(trimmed)) return `mailto:${trimmed}`;
  if (/^https?:\/\/\S+$/i.test(trimmed)) return trimmed;
  if (/phone|mobile|^tel(?:[^a-z]|$)/i.test(field.name) && /^\+?[\d\s()-]{7,20}$/.test(trimmed))
    return `tel:${trimmed.replace(/[^\d+]/g, '')}`;
  return null;
}

/** Returns whether a text needs more than one line. */
export function isLong(text: string): boolean {
  return text.length > 80 || text.includes('\n');
}

/** Removes the characters that override direction: names that pretend to be others (`U+202E`). */
export function withoutOverrides(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
}

/** Returns a text for one line: without direction overrides, cut to at most `length` characters at a character border. */
export function shortened(text: string, length: number): string {
  const plain = withoutOverrides(text);
  if (plain.length <= length) return plain;
  return `${[...plain.slice(0, length * 2)].slice(0, length - 1).join('')}…`;
}

/** Returns the original name of a file from its stored name. */
export function givenName(storedName: string): string {
  const name = storedName.replace(/^[\w-]{10,}?_(?=.)/, '');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
