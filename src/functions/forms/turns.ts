import { phoneKey } from '../../kernel/phone-key.ts';
import { TurnsOf } from '../../kernel/turns.ts';
import type { Store } from '../../storage/port.ts';

/** What accounts are looked for by, as sent; `null`: not by that. */
export interface Sought {
  readonly phone: string | null;
  readonly email: string | null;
}

const turns = new TurnsOf();

/**
 * Does work that looks for an account by these, and may make one, when no other form of this process does so: of two requests for one new
 * contact the second finds it.
 */
export function inContactTurn<T>(store: Store, { phone, email }: Sought, work: () => Promise<T>): Promise<T> {
  const key = phone === null ? null : phoneKey(phone);
  // The number before the address, whatever the form: so nobody waits in a circle.
  const withEmail = () => (email === null ? work() : turns.take(store, `email ${email}`, work));
  return key === null ? withEmail() : turns.take(store, `phone ${key}`, withEmail);
}
