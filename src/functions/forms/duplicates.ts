import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { phoneKey } from '../../kernel/phone-key.ts';
import { type RecordContext, readFirst, retryWhenConditionFailed } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Condition, Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';

/** A secret field of Accounts, derived from PhoneNumber (schema/system-tables.ts). */
const PHONE_KEY = '_phone_key';
const EMAIL = 'Email';
const fields = ['objectId'];

/** The phone number and e-mail address to search for, as sent; `null` to skip one. */
export interface ContactKeys {
  readonly phone: string | null;
  readonly email: string | null;
}

/**
 * Returns the first created account with a phone number, regardless of its formatting (functions.md#getlead).
 * @param phone as sent
 * @returns its objectId; `null` if there is none, or the text has no digits
 */
export async function accountByPhone(store: Store, phone: string): Promise<string | null> {
  const key = phoneKey(phone);
  return key === null ? null : firstAccount(store, PHONE_KEY, key);
}

/** Whether an account has the e-mail address; case-sensitive. */
export async function hasEmail(store: Store, email: string): Promise<boolean> {
  // Any match will do; this order is served by the index.
  return (await firstAccount(store, EMAIL, email, 'objectId')) !== null;
}

/** Returns conditions for a commit that creates an account: no account has these values. */
export function whileAbsent({ phone, email }: ContactKeys): (schema: Schema) => Condition[] {
  const key = phone === null ? null : phoneKey(phone);
  return (schema) => [...absent(schema, PHONE_KEY, key), ...absent(schema, EMAIL, email)];
}

function absent(schema: Schema, name: string, value: string | null): Condition[] {
  const table = schema.tables.get('Accounts');
  const field = table?.fields.get(name);
  if (value === null || !table || !field || storageOf(field) !== 'text') return [];
  return [{ kind: 'absent', table, filter: { kind: 'compare', field, op: 'eq', value }, key: `${name} ${value}` }];
}

async function firstAccount(store: Store, field: string, value: string, orderBy?: string): Promise<string | null> {
  const order = orderBy === undefined ? {} : { orderBy };
  const query = { className: 'Accounts', field, value, fields, ...order };
  return (await readFirst<{ readonly objectId: string }>(store, query))?.objectId ?? null;
}

const mutexOf = memoByObject<Store, KeyedMutex>(() => new KeyedMutex());

/**
 * Searches for an account and possibly creates one, excluding other forms of this process for the same contact: of two requests for one new contact,
 * the second finds it. Repeated if another process has created one meanwhile.
 * @param work receives the context for creating an account
 */
export function withContactLock<T>(
  context: RecordContext,
  by: ContactKeys,
  work: (forNew: RecordContext) => Promise<T>,
): Promise<T> {
  const { store } = context;
  const { phone, email } = by;
  const key = phone === null ? null : phoneKey(phone);
  const decide = () => retryWhenConditionFailed(() => work({ ...context, conditions: whileAbsent(by) }));
  // Always locks the phone number before the address, so that there is no deadlock.
  const withEmail = () => (email === null ? decide() : mutexOf(store).runExclusive(`email ${email}`, decide));
  return key === null ? withEmail() : mutexOf(store).runExclusive(`phone ${key}`, withEmail);
}
