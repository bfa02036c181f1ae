import { insertAct, newAct, whoOfUser } from '../../acts/index.ts';
import { readRows } from '../../records/index.ts';
import type { Store } from '../../storage/port.ts';
import { unlocked } from '../accounts/lockout.ts';
import { updateUser } from '../accounts/user-update.ts';
import { endSessionsOf } from '../sessions/record.ts';
import { hashToken } from '../sessions/token.ts';
import { hashPassword, meetsPolicy } from './password.ts';
import { hasLink, isResetToken, withoutLink } from './reset-token.ts';

/** Result of using a link: used; or the link is unknown, used, superseded or expired; or it stays valid and the password is too weak. */
export type ResetOutcome = 'done' | 'badLink' | 'weakPassword';

/**
 * Sets a new password by the token of a link, unlocks the user and ends all sessions, in one commit; of concurrent uses exactly one succeeds.
 * Reference: users.md#password-reset.
 * @param network of the client
 * @param requestId of the request, for the log of administrators
 * @throws unavailable (503) if too many passwords wait to be hashed
 */
export async function resetPassword(
  store: Store,
  token: string,
  password: string,
  network: string,
  requestId?: string,
): Promise<ResetOutcome> {
  if (!meetsPolicy(password)) return 'weakPassword';
  if (!isResetToken(token)) return 'badLink';
  const tokenHash = hashToken(token);
  // Checked before the password is hashed, so that forged tokens cost little.
  const [user] = await readRows<{ objectId: string }>(store, {
    className: '_User',
    fields: ['objectId'],
    filter: (table) => hasLink(table, tokenHash, Date.now()),
    limit: 1,
  });
  if (!user) return 'badLink';
  const passwordHash = await hashPassword({ system: store, caller: network }, password);
  const at = Date.now();
  const set = {
    password: passwordHash,
    ...withoutLink,
    ...unlocked,
    updatedAt: at,
    updatedBy: user.objectId,
  };
  // A link proves no more than that the mailbox is read, so its use is recorded.
  const act = newAct(
    { act: 'users', subject: user.objectId, after: { passwordSet: true, byLink: true } },
    { who: whoOfUser(user.objectId), requestId },
  );
  const isDone = await updateUser(
    store,
    user.objectId,
    (table) => ({ condition: hasLink(table, tokenHash, at), set }),
    (schema) => [...endSessionsOf(schema, user.objectId), ...insertAct(schema, act)],
  );
  return isDone ? 'done' : 'badLink';
}
