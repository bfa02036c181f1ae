/** Normalising a run of combining marks takes quadratic time; no real name is half as long. */
export const MAX_NORMALISED_LENGTH = 1_000;

/**
 * Returns the key by which user names and e-mail addresses are compared: the case of letters and surrounding spaces do not count. Texts longer
 * than any name are compared exactly. Reference: users.md#create-a-user.
 */
export function loginKey(text: string): string {
  return text.length > MAX_NORMALISED_LENGTH ? text : text.normalize('NFKC').trim().toLowerCase();
}

/**
 * A syntactic plausibility check only; deliverability is proven by sending mail. Rejects header syntax and invisible characters, because either
 * could redirect the message to a different address.
 */
const address = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"]+$/u;
export const MAX_ADDRESS_LENGTH = 320;

/** Returns the key of an e-mail address; `null` for a text that is not an address. */
export function emailKey(text: string): string | null {
  const key = loginKey(text);
  return key.length <= MAX_ADDRESS_LENGTH && address.test(key) ? key : null;
}
