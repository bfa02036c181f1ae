import { phoneKey } from '../../kernel/phone-key.ts';
import { TurnsOf } from '../../kernel/turns.ts';
import type { Store } from '../../storage/port.ts';

const turns = new TurnsOf();

/**
 * Does work that looks for an account by these, and may make one, when no other form of this process does so: of two requests for one new
 * contact the second finds it.
 * @param by telephone number and e-mail address, as sent; `null`: not looked for
 */
export function inContactTurn<T>(
  store: Store,
  by: { readonly phone: string | null; readonly email: string | null },
  work: () => Promise<T>,
): Promise<T> {
  const key = by.phone === null ? null : phoneKey(by.phone);
  // The number before the address, whatever the form: so nobody waits in a circle.
  const withEmail = () => (by.email === null ? work() : turns.take(store, `email ${by.email}`, work));
  return key === null ? withEmail() : turns.take(store, `phone ${key}`, withEmail);
}
