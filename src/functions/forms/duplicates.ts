import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { phoneKey } from '../../kernel/phone-key.ts';
import { decideAnew, type RecordContext, readFirst } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Condition, Store } from '../../storage/port.ts';
import { storageOf } from '../../values/index.ts';

/** A secret field of Accounts, which follows PhoneNumber (schema/system-tables.ts). */
const PHONE_KEY = '_phone_key';
const EMAIL = 'Email';
const fields = ['objectId'];

/** What accounts are looked for by, as sent; `null`: not by that. */
export interface Sought {
  readonly phone: string | null;
  readonly email: string | null;
}

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
  return (await firstAccount(store, EMAIL, email, 'objectId')) !== null;
}

/** For a write that makes an account since nobody has these: nobody has them in its commit either. */
export function unlessTaken({ phone, email }: Sought): (schema: Schema) => Condition[] {
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
 * Does work that looks for an account by these, and may make one, when no other form of this process does so: of two requests for one new
 * contact the second finds it. Done again where another process has made one meanwhile.
 * @param work is handed the context that it makes a new account by
 */
export function withContactLock<T>(context: RecordContext, by: Sought, work: (forNew: RecordContext) => Promise<T>): Promise<T> {
  const { store } = context;
  const { phone, email } = by;
  const key = phone === null ? null : phoneKey(phone);
  const decide = () => decideAnew(() => work({ ...context, conditions: unlessTaken(by) }));
  // The number before the address, whatever the form: so nobody waits in a circle.
  const withEmail = () => (email === null ? decide() : mutexOf(store).runExclusive(`email ${email}`, decide));
  return key === null ? withEmail() : mutexOf(store).runExclusive(`phone ${key}`, withEmail);
}
