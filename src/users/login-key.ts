/** Normalisation takes the square of a run of combining marks; no name that a person has is half as long. */
const LONGEST_NORMALISED = 1_000;

/**
 * What a user name or an e-mail address is compared by: neither the case of letters nor spaces around tell two users apart
 * (docs/decisions.md "Users and sessions"). Longer texts than any name are compared as they are.
 */
export function loginKey(text: string): string {
  return text.length > LONGEST_NORMALISED ? text : text.normalize('NFKC').trim().toLowerCase();
}
