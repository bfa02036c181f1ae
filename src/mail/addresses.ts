import { randomBytes } from 'node:crypto';
import { emailKey } from '../kernel/login-key.ts';
import { parseAddresses } from './nodemailer.ts';

/** Who a message is from or for. */
export interface MailAddress {
  /** Empty where there is none. */
  readonly name: string;
  readonly address: string;
}

/** What a list of addresses says. */
export interface AddressList {
  /** Each address once, in their order. */
  readonly addresses: readonly MailAddress[];
  /** The first entry that is no address, bounded; `null` where all are. */
  readonly wrong: string | null;
}

/** Characters of a list: room for more addresses than a message goes to. */
const MAX_LIST_LENGTH = 50_000;
/** Characters of an address: more have no place in SMTP. */
const MAX_ADDRESS_LENGTH = 320;
/** Characters of an entry that is shown. */
const MAX_SHOWN_LENGTH = 100;

/** What ends a line or is not to be seen: none is in a list of addresses, and a line break would begin another header. */
const control = /\p{Cc}|\p{Zl}|\p{Zp}/u;

/** A piece of a list: text of its own, in which separators and names count, or the texts of a value, each of them one bare address. */
export type ListPiece = string | readonly string[];

/**
 * Reads addresses that stand between commas or semicolons, with or without names: `dana@example.com; "Cohen, Dana" <dana@example.com>`.
 * @param list white space around it does not count
 */
export function addressesOf(list: string): AddressList {
  return addressesIn([list]);
}

/**
 * Reads a list that values were filled into. A value never adds a recipient: it is one bare address, or a part of one; an empty one is
 * nothing. A name that a value has a part in is left out.
 */
export function addressesIn(pieces: readonly ListPiece[]): AddressList {
  if (lengthOf(pieces) > MAX_LIST_LENGTH)
    return { addresses: [], wrong: shown(pieces.flat().find((text) => text.trim() !== '') ?? '') };
  const values = new Values();
  const text = pieces
    .map((piece) => (typeof piece === 'string' ? piece : values.markOf(piece)))
    .join('')
    .trim();
  const filled = values.fill(text);
  if (filled.length > MAX_LIST_LENGTH || control.test(text)) return { addresses: [], wrong: shown(filled) };
  const addresses = new Map<string, MailAddress>();
  for (const { name: written, address } of parseAddresses(text, { flatten: true })) {
    const name = values.fill(written);
    for (const one of values.textsOf(address)) {
      const { key, normal } = oneAddress(one);
      // Two addresses without a comma between them are read as one that is named like the other.
      if (key === null || (written.includes('@') && unquoted(name) !== normal))
        return { addresses: [], wrong: shown(name || one) };
      if (!addresses.has(key)) addresses.set(key, { name: name === written ? name : '', address: normal });
    }
  }
  return { addresses: [...addresses.values()], wrong: null };
}

/** Characters that a list comes to, about. */
const lengthOf = (pieces: readonly ListPiece[]): number =>
  pieces.reduce(
    (sum, piece) => sum + (typeof piece === 'string' ? piece.length : piece.reduce((all, text) => all + text.length, 0)),
    0,
  );

/** A text as one address; the key is `null` where it is none. */
function oneAddress(text: string): { readonly key: string | null; readonly normal: string } {
  const normal = text.length > MAX_ADDRESS_LENGTH ? '' : text.normalize('NFKC');
  return { key: emailKey(normal), normal };
}

/** The values of a list while it is read: each is a mark that nobody can know, so that nothing in it counts as the list's own text. */
class Values {
  readonly #nonce = randomBytes(12).toString('hex');
  readonly #marks = new RegExp(`${this.#nonce}-(\\d+)(?:@${this.#nonce}|-)`, 'g');
  readonly #texts: (readonly string[])[] = [];

  /** What stands for a value in the text: like an address where it is one, so that it is never taken for the name of another. */
  markOf(value: readonly string[]): string {
    const texts = value.map((text) => text.trim()).filter((text) => text !== '');
    if (texts.length === 0) return '';
    const at = this.#texts.push(texts) - 1;
    return `${this.#nonce}-${at}${texts.every((text) => oneAddress(text).key !== null) ? `@${this.#nonce}` : '-'}`;
  }

  /** A text with the values in place of their marks. */
  fill(text: string): string {
    return text.replace(this.#marks, (_mark, at: string) => (this.#texts[Number(at)] as readonly string[]).join(', '));
  }

  /** The texts of an entry: those of the value that it is, else itself. */
  textsOf(entry: string): readonly string[] {
    const [mark] = entry.match(this.#marks) ?? [];
    return mark !== undefined && mark === entry
      ? (this.#texts[Number(mark.split(/[-@]/)[1])] as readonly string[])
      : [this.fill(entry)];
  }
}

const unquoted = (name: string): string => name.replace(/^'(.*)'$/, '$1');

function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}
