import { phoneKey } from '../../kernel/phone-key.ts';
import { readFirst } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';

/** A secret field of Accounts, which follows PhoneNumber (schema/system-tables.ts). */
const PHONE_KEY = '_phone_key';
const fields = ['objectId'];

/**
 * The first created account with a telephone number, in whatever form it is stored (SPEC "`getlead`": duplicate detection).
 * @param phone as sent
 * @returns its objectId; `null` where there is none, or the text has no digits
 */
export async function accountByPhone(store: Store, phone: string): Promise<string | null> {
  const key = phoneKey(phone);
  return key === null ? null : firstAccount(store, PHONE_KEY, key);
}

/** Whether an account has an e-mail address, the case of its letters included. */
export async function hasEmail(store: Store, email: string): Promise<boolean> {
  // Any will do: in this order they come from the index.
  return (await firstAccount(store, 'Email', email, 'objectId')) !== null;
}

async function firstAccount(store: Store, field: string, value: string, orderBy?: string): Promise<string | null> {
  const order = orderBy === undefined ? {} : { orderBy };
  const query = { className: 'Accounts', field, value, fields, ...order };
  return (await readFirst<{ readonly objectId: string }>(store, query))?.objectId ?? null;
}
