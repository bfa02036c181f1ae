import { KeyedMutex } from '../../kernel/keyed-mutex.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { phoneKey } from '../../kernel/phone-key.ts';
import { decideAnew, type RecordContext } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { type Sought, unlessTaken } from './duplicates.ts';

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
