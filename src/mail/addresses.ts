import addressparser from 'nodemailer/lib/addressparser';
import { emailKey } from '../kernel/login-key.ts';

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
const LONGEST_LIST = 50_000;
/** Characters of an address: more have no place in SMTP. */
const LONGEST_ADDRESS = 320;
/** Characters of an entry that is shown. */
const SHOWN = 100;

/** What ends a line or is not to be seen: none is in a list of addresses, and a line break would begin another header. */
const control = /\p{Cc}|\p{Zl}|\p{Zp}/u;

/**
 * Reads addresses that stand between commas or semicolons, with or without names: `dana@example.com; "Cohen, Dana" <dana@example.com>`.
 * @param list white space around it does not count
 */
export function addressesOf(list: string): AddressList {
  const text = list.trim();
  if (text.length > LONGEST_LIST || control.test(text)) return { addresses: [], wrong: shown(text) };
  const addresses = new Map<string, MailAddress>();
  for (const { name, address: written } of addressparser(text, { flatten: true })) {
    const address = written.length > LONGEST_ADDRESS ? '' : written.normalize('NFKC');
    const key = emailKey(address);
    // Two addresses without a comma between them are read as one that is named like the other.
    if (key === null || (name.includes('@') && unquoted(name) !== address))
      return { addresses: [], wrong: shown(name || written) };
    if (!addresses.has(key)) addresses.set(key, { name, address });
  }
  return { addresses: [...addresses.values()], wrong: null };
}

const unquoted = (name: string): string => name.replace(/^'(.*)'$/, '$1');

function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
