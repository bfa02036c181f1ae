/**
 * What a user name or an e-mail address is compared by: neither the case of letters nor spaces around tell two users apart
 * (docs/decisions.md "Users and sessions").
 */
export function loginKey(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}
