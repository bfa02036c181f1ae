import { fail, ServiceError } from '../../errors/fail.ts';
import { readRows } from '../../records/index.ts';
import { fieldOf } from '../../schema/model.ts';
import type { Assignment, Store } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import { hashPassword } from '../passwords/hash.ts';
import { meetsPolicy } from '../passwords/policy.ts';
import { endSessionsOf } from '../sessions/record.ts';
import { hashResetToken, hasLink, isResetToken } from './token.ts';

/** What came of a link: it was used; it is unknown, used, superseded or expired; or it is still good and the password is not. */
export type ResetOutcome = 'done' | 'badLink' | 'weakPassword';

/**
 * Sets a new password by the token of a link, unlocks the user and ends all his sessions, in one commit; of many at once exactly one
 * succeeds (docs/decisions.md "Users and sessions": Reset).
 * @throws unavailable (503) where too many passwords wait to be hashed
 */
export async function resetPassword(store: Store, token: string, password: string): Promise<ResetOutcome> {
  if (!meetsPolicy(password)) return 'weakPassword';
  if (!isResetToken(token)) return 'badLink';
  const tokenHash = hashResetToken(token);
  // Before the password is hashed, so that forged tokens cost next to nothing.
  const [user] = await readRows<{ objectId: string }>(store, {
    className: '_User',
    fields: ['objectId'],
    filter: (table) => hasLink(table, tokenHash, Date.now()),
    limit: 1,
  });
  if (!user) return 'badLink';
  return use(store, { userId: user.objectId, tokenHash, passwordHash: await hashPassword(password) });
}

interface Use {
  readonly userId: string;
  readonly tokenHash: string;
  readonly passwordHash: string;
}

async function use(store: Store, { userId, tokenHash, passwordHash }: Use): Promise<ResetOutcome> {
  const at = Date.now();
  const values: Readonly<Record<string, StoredValue>> = {
    password: passwordHash,
    _reset_token: null,
    _reset_expires_at: null,
    _failed_login_count: 0,
    _last_failed_login: null,
    updatedAt: at,
    updatedBy: userId,
  };
  try {
    await store.write({
      plan(schema) {
        const table = schema.tables.get('_User') ?? fail('objectNotFound');
        const assignments = Object.keys(values).map((name): Assignment => {
          return { kind: 'set', field: fieldOf(table, name), value: values[name] as StoredValue };
        });
        const condition = hasLink(table, tokenHash, at);
        return {
          changes: [],
          mutations: [
            { kind: 'update', table, objectId: userId, guard: null, condition, assignments, returning: [] },
            ...endSessionsOf(schema, userId),
          ],
        };
      },
    });
    return 'done';
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') return 'badLink';
    throw error;
  }
}
