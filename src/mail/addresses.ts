import { randomBytes } from 'node:crypto';
import { emailKey } from '../kernel/login-key.ts';
import { parseAddresses } from './nodemailer.ts';

/** A sender or recipient. */
export interface MailAddress {
  /** Empty if there is no name. */
  readonly name: string;
  readonly address: string;
}

/** The result of parsing a list of addresses. */
export interface AddressList {
  /** Each address once, in the order of the list. */
  readonly addresses: readonly MailAddress[];
  /** The first entry that is not an address, truncated; `null` if all are valid. */
  readonly invalid: string | null;
}

/** Maximum length of a list in characters: more addresses than a message may have fit in. */
const MAX_LIST_LENGTH = 50_000;
/** Maximum length of an address in characters; SMTP allows no more. */
const MAX_ADDRESS_LENGTH = 320;
/** Maximum length of an invalid entry in a message, in characters. */
const MAX_EXCERPT_LENGTH = 100;

/** Control characters and line separators. They are not allowed in a list: a line break would begin another header. */
const control = /\p{Cc}|\p{Zl}|\p{Zp}/u;

/** A piece of a list: literal text, in which separators and names count, or the texts of a filled-in value, each of which is one bare address. */
export type ListPiece = string | readonly string[];

/**
 * Parses a list of addresses separated by commas or semicolons, with or without names: `dana@example.com; "Cohen, Dana" <dana@example.com>`. White
 * space around the list is ignored.
 */
export function addressesOf(list: string): AddressList {
  return addressesIn([list]);
}

/**
 * Parses a list with filled-in values. A value cannot add recipients: each of its texts is one bare address or a part of one; empty texts are
 * skipped. A name that contains a value is dropped.
 */
export function addressesIn(pieces: readonly ListPiece[]): AddressList {
  if (lengthOf(pieces) > MAX_LIST_LENGTH)
    return { addresses: [], invalid: excerpt(pieces.flat().find((text) => text.trim() !== '') ?? '') };
  const values = new Values();
  const text = pieces
    .map((piece) => (typeof piece === 'string' ? piece : values.markOf(piece)))
    .join('')
    .trim();
  const filled = values.fill(text);
  if (filled.length > MAX_LIST_LENGTH || control.test(text)) return { addresses: [], invalid: excerpt(filled) };
  const addresses = new Map<string, MailAddress>();
  for (const { name: written, address } of parseAddresses(text, { flatten: true })) {
    const name = values.fill(written);
    for (const one of values.textsOf(address)) {
      const { key, normal } = oneAddress(one);
      // The parser reads two addresses without a comma between them as one address with the other as its name.
      if (key === null || (written.includes('@') && unquoted(name) !== normal))
        return { addresses: [], invalid: excerpt(name || one) };
      if (!addresses.has(key)) addresses.set(key, { name: name === written ? name : '', address: normal });
    }
  }
  return { addresses: [...addresses.values()], invalid: null };
}

/** Approximate length of a list in characters. */
const lengthOf = (pieces: readonly ListPiece[]): number =>
  pieces.reduce(
    (sum, piece) => sum + (typeof piece === 'string' ? piece.length : piece.reduce((all, text) => all + text.length, 0)),
    0,
  );

/** Parses a text as a single address; `key` is `null` if it is invalid. */
function oneAddress(text: string): { readonly key: string | null; readonly normal: string } {
  const normal = text.length > MAX_ADDRESS_LENGTH ? '' : text.normalize('NFKC');
  return { key: emailKey(normal), normal };
}

/** Replaces values by unguessable placeholders while a list is parsed, so that nothing in a value is parsed as list syntax. */
class Values {
  readonly #nonce = randomBytes(12).toString('hex');
  readonly #marks = new RegExp(`${this.#nonce}-(\\d+)(?:@${this.#nonce}|-)`, 'g');
  readonly #texts: (readonly string[])[] = [];

  /** Returns the placeholder of a value. It has the form of an address if the value is one, so that the parser never takes it for a name. */
  markOf(value: readonly string[]): string {
    const texts = value.map((text) => text.trim()).filter((text) => text !== '');
    if (texts.length === 0) return '';
    const at = this.#texts.push(texts) - 1;
    return `${this.#nonce}-${at}${texts.every((text) => oneAddress(text).key !== null) ? `@${this.#nonce}` : '-'}`;
  }

  /** Puts the values in place of their placeholders. */
  fill(text: string): string {
    return text.replace(this.#marks, (_mark, at: string) => (this.#texts[Number(at)] as readonly string[]).join(', '));
  }

  /** Returns the texts of an entry: those of the value if the entry is a placeholder, else the entry itself. */
  textsOf(entry: string): readonly string[] {
    const [mark] = entry.match(this.#marks) ?? [];
    return mark !== undefined && mark === entry
      ? (this.#texts[Number(mark.split(/[-@]/)[1])] as readonly string[])
      : [this.fill(entry)];
  }
}

const unquoted = (name: string): string => name.replace(/^'(.*)'$/, '$1');

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > MAX_EXCERPT_LENGTH ? `${line.slice(0, MAX_EXCERPT_LENGTH)}…` : line;
}
