/** Normalisation takes the square of a run of combining marks; no name that a person has is half as long. */
const MAX_NORMALISED_LENGTH = 1_000;

/**
 * What a user name or an e-mail address is compared by: neither the case of letters nor spaces around tell two users apart
 * (docs/decisions.md "Users and sessions"). Longer texts than any name are compared as they are.
 */
export function loginKey(text: string): string {
  return text.length > MAX_NORMALISED_LENGTH ? text : text.normalize('NFKC').trim().toLowerCase();
}

/**
 * A syntactic plausibility check only: that an address works is proven by a message to it. It rejects the syntax of mail headers and invisible
 * characters, since either could send a message to another address than the one that is kept.
 */
const address = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"]+$/u;
const MAX_ADDRESS_LENGTH = 320;

/** The same of an e-mail address alone; `null` for a text that is none. */
export function emailKey(text: string): string | null {
  const key = loginKey(text);
  return key.length <= MAX_ADDRESS_LENGTH && address.test(key) ? key : null;
}
