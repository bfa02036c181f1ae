import type { FieldModel } from '../../../src/console/protocol/protocol.ts';

const LTR_NAME =
  /phone|mobile|fax|^tel(?:[^a-z]|$)|e-?mail|url|website|link|iban|swift|objectid|external_?id|company_?id|number|token|code$|_id$|^id$|username/i;
const LTR_TEXT = /^(?:[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?:\/\/\S+|\+?[\d\s().*#/-]{5,})$/;

/** Whether text reads from left to right whatever stands around it: ids, e-mail, phone, addresses of the web, code. */
export function isLtr(field: Pick<FieldModel, 'name' | 'type'> | null, text: string): boolean {
  if (text && LTR_TEXT.test(text.trim())) return true;
  return field?.type === 'String' && LTR_NAME.test(field.name) && !/[֐-ࣿ]/.test(text);
}

/**
 * The direction of a control that holds a text: by its first letter, as `dir=auto`, of which browsers make something else where there is
 * no letter. `undefined`: as the page.
 */
export function directionOf(field: Pick<FieldModel, 'name' | 'type'> | null, text: string): 'ltr' | 'rtl' | undefined {
  if (isLtr(field, text)) return 'ltr';
  const letter = /\p{L}/u.exec(text)?.[0];
  if (!letter) return undefined;
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(letter) ? 'rtl' : 'ltr';
}

/** Where a click on a text leads: mail, a call, a page. Nothing for all else. */
export function linkOf(field: Pick<FieldModel, 'name'>, text: string): string | null {
  const trimmed = text.trim();
  if (/^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(trimmed)) return `mailto:${trimmed}`;
  if (/^https?:\/\/\S+$/i.test(trimmed)) return trimmed;
  if (/phone|mobile|^tel(?:[^a-z]|$)/i.test(field.name) && /^\+?[\d\s()-]{7,20}$/.test(trimmed))
    return `tel:${trimmed.replace(/[^\d+]/g, '')}`;
  return null;
}

/** Whether a text needs more than a line to be read and typed in. */
export function isLong(text: string): boolean {
  return text.length > 80 || text.includes('\n');
}

/** A text without the characters that turn the direction of what follows: names that pretend to be others (`U+202E`). */
export function withoutOverrides(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');
}

/** A text for a line of the page: without overrides of direction, cut to at most `length` characters, not inside of one. */
export function shortened(text: string, length: number): string {
  const plain = withoutOverrides(text);
  if (plain.length <= length) return plain;
  return `${[...plain.slice(0, length * 2)].slice(0, length - 1).join('')}…`;
}

/** The name that a file was given, of the name that it is stored by. */
export function givenName(storedName: string): string {
  const name = storedName.replace(/^[\w-]{10,}?_(?=.)/, '');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
