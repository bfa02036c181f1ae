import { createHmac, timingSafeEqual } from 'node:crypto';
import { fail, ServiceError } from '../errors/fail.ts';
import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import { readRow } from '../records/index.ts';
import { tableOf } from '../schema/model.ts';
import { assignmentsOf } from '../storage/column-values.ts';
import type { Store } from '../storage/port.ts';
import { type UserPrincipal, userCaller } from './accounts/present.ts';
import { authenticate, type SignInAttempt } from './login.ts';
import { type Session, sessionsOf } from './sessions/cache.ts';
import { endSession, newSession, openSession } from './sessions/record.ts';
import { hashToken, isConsoleToken, newConsoleToken } from './sessions/token.ts';

/** Lifetime of an unused console session, and maximum lifetime of a used one, in milliseconds. */
export const MAX_IDLE_MS = 12 * HOUR_MS;
export const MAX_CONSOLE_SESSION_MS = 7 * DAY_MS;
/** Minimum interval between extensions of a used session, so that not every request writes. */
const RENEWAL_MS = HOUR_MS;

/**
 * Signs a user in at the console: creates a row of `_Session` whose token no other address accepts. Reference: console.md#sign-in-to-the-console.
 * @returns the token, only for the cookie
 * @throws what `authenticate` throws
 */
export async function logInToConsole(store: Store, attempt: SignInAttempt): Promise<string> {
  const { token, session } = newConsoleSession();
  await authenticate(store, attempt, (schema, userId, at) => openSession(schema, session, { userId, actor: userId, at }));
  return token;
}

/** Returns a console session to open, and its token. */
export function newConsoleSession(): ReturnType<typeof newSession> {
  const createdWith = { action: 'login', authProvider: 'password', client: 'console' } as const;
  return newSession({ createdWith, installationId: null, days: MAX_IDLE_MS / DAY_MS }, newConsoleToken());
}

/** Returns the session of a console token, and extends it while it is used. @throws invalidSession (209) */
export async function consoleSession(store: Store, token: unknown): Promise<Session> {
  const session = await sessionsOf(store).consoleSessionOf(token);
  const until = Math.min(Date.now() + MAX_IDLE_MS, session.createdAt + MAX_CONSOLE_SESSION_MS);
  if (until - session.expiresAt > RENEWAL_MS) await renew(store, session.objectId, until);
  return session;
}

async function renew(store: Store, objectId: string, expiresAt: number): Promise<void> {
  try {
    await store.write({
      plan(schema) {
        const table = tableOf(schema, '_Session');
        const assignments = assignmentsOf(table, { expiresAt });
        return { changes: [], mutations: [{ kind: 'update', table, objectId, guard: null, assignments, returning: [] }] };
      },
    });
  } catch (error) {
    if (error instanceof ServiceError && error.key === 'objectNotFound') fail('invalidSession');
    throw error;
  }
}

/** Ends a console session. Does nothing if it has already ended. */
export async function logOutOfConsole(store: Store, token: unknown): Promise<void> {
  if (!isConsoleToken(token)) return;
  const tokenHash = hashToken(token);
  await store.write({ plan: (schema) => ({ changes: [], mutations: [endSession(schema, tokenHash)] }) });
}

/** Inputs of the token that opens private files: the secret of the installation, and the system. */
interface FileTokenScope {
  readonly secret: string;
  readonly appId: string;
}

/** Returns a token that only reads private files, as long as its console session is valid. */
export function fileTokenOf(scope: FileTokenScope, { objectId }: Session, token: string): string {
  return `${objectId}.${signatureOf(scope, objectId, hashToken(token))}`;
}

const signatureOf = ({ secret, appId }: FileTokenScope, objectId: string, tokenHash: string): string =>
  createHmac('sha256', `console files ${secret}`).update(`${appId} ${objectId} ${tokenHash}`).digest('base64url');

interface SessionRow {
  readonly user?: { readonly objectId: string };
  readonly sessionToken?: string;
  readonly expiresAt?: { readonly iso: string };
}

/** Returns the user of a token that opens private files; `null` if it is not valid. */
export async function fileTokenUser(scope: FileTokenScope, store: Store, fileToken: string): Promise<UserPrincipal | null> {
  const [, objectId, signature] = /^([\w-]{1,64})\.([\w-]{43})$/.exec(fileToken) ?? [];
  if (objectId === undefined || signature === undefined) return null;
  const row = await readRow<SessionRow>(store, '_Session', ['user', 'sessionToken', 'expiresAt'], objectId);
  if (!row?.user || row.sessionToken === undefined || !(Date.parse(row.expiresAt?.iso ?? '') > Date.now())) return null;
  const isSigned = timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(scope, objectId, row.sessionToken)));
  return isSigned ? userCaller(store, row.user.objectId) : null;
}
