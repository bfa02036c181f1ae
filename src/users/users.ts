import { actorId, actsAsMaster, authorize, master, type Principal } from '../access/index.ts';
import { fail, ServiceError, serviceError } from '../errors/fail.ts';
import { type JsonObject, own } from '../kernel/json.ts';
import { isoText } from '../kernel/time.ts';
import {
  type Created,
  commitPlan,
  createRecord,
  eventOf,
  getRow,
  type RecordContext,
  type Row,
  readRecord,
  type TableRules,
  takeFlags,
  type WriteEvent,
} from '../records/index.ts';
import { type Schema, tableOf } from '../schema/model.ts';
import { type Store, wholeText } from '../storage/port.ts';
import { typeOfValue } from '../values/json/infer.ts';
import { pointerOf } from '../values/types/pointer.ts';
import { logIn } from './login.ts';
import { notificationRules } from './rules/notification.ts';
import { roleRules } from './rules/role.ts';
import { sessionRules } from './rules/session.ts';
import { startsBlocked, userRules } from './rules/user.ts';
import { type Session, sessionsOf } from './sessions/cache.ts';
import { endSession, newSession, openSession, requireSession, requireUser } from './sessions/record.ts';
import { hashToken } from './sessions/token.ts';

/** The installation that a client says it is; `null` where it says nothing. */
export type InstallationId = string | null;

/** Where a client signs in. */
export interface LoginClient {
  readonly installationId: InstallationId;
  /** That the request comes from. */
  readonly network: string;
  /** As of `SignInAttempt`. */
  readonly isGone: () => boolean;
}

const none: WriteEvent['assignments'] = new Map();

/** What opens a session answers beside what it made. The token is shown this once. */
export interface Opened extends Created {
  readonly sessionToken: string;
}

/** Who has signed in. The token is shown this once. */
export interface SignedIn {
  /** JSON text of his record, as `currentUserText`. */
  readonly user: string;
  readonly sessionToken: string;
}

/** Rules of the tables that users and their rights are kept in, for every path that writes them. */
export const userTableRules: ReadonlyMap<string, TableRules> = new Map([
  ['_User', userRules],
  ['_Session', sessionRules],
  ['_Role', roleRules],
  ['_Notification', notificationRules],
]);

/** The user of a session (SPEC "Credentials"). @throws invalidSession (209) */
export async function principalOfSession(store: Store, token: unknown): Promise<Principal> {
  return (await sessionsOf(store).sessionOf(token)).principal;
}

/** As `principalOfSession`, where the session is remembered; `null` where it has to be read. */
export const rememberedPrincipal = (store: Store, token: unknown): Principal | null =>
  sessionsOf(store).remembered(token)?.principal ?? null;

/** SPEC "Users and sessions", "Login and session". */
export class Users {
  readonly #sessionDays: number;

  /** @param sessionDays how long sessions last (CONTRACT "Records") */
  constructor(sessionDays: number) {
    this.#sessionDays = sessionDays;
  }

  /**
   * Signs a user up, and in, unless he is blocked from the start. SPEC "Users and sessions: Sign up".
   * @param body fields and password
   * @throws captcha, permissionDenied (119); passwordPolicy (142); usernameMissing, passwordMissing, usernameTaken, emailTaken (200 to 203)
   */
  async signUp(context: RecordContext, body: JsonObject, installationId: InstallationId): Promise<Created | Opened> {
    if (startsBlocked(body)) return createRecord(context, '_User', body);
    const createdWith = { action: 'signup', authProvider: 'password' } as const;
    const { token, session } = newSession({ createdWith, installationId, days: this.#sessionDays });
    const created = await createRecord(context, '_User', body, (schema, userId) =>
      openSession(schema, session, { userId, actor: userId, at: Date.now() }),
    );
    return { ...created, sessionToken: token };
  }

  /**
   * SPEC "Users and sessions: Log in".
   * @param sent `username` or `email`, and `password`
   * @throws what `logIn` throws
   */
  async logIn(context: RecordContext, sent: JsonObject, { installationId, network, isGone }: LoginClient): Promise<SignedIn> {
    const { username, email, password } = sent;
    const attempt = { username, email, password, installationId, network, isGone, sessionDays: this.#sessionDays };
    const { userId, token } = await logIn(context.store, attempt);
    if (context.progress) context.progress.hasWritten = true;
    return { user: await unlessMissing(userText(context, userId), 'badLogin'), sessionToken: token };
  }

  /**
   * SPEC "Users and sessions: Current user": all that is shown of himself, whatever the permissions say.
   * @throws invalidSession (209)
   */
  async currentUser(context: RecordContext, token: unknown): Promise<Row> {
    const { principal } = await sessionsOf(context.store).sessionOf(token);
    return unlessMissing(getRow({ ...context, principal: master }, '_User', principal.userId), 'invalidSession');
  }

  /** The same as JSON text. @throws invalidSession (209) */
  async currentUserText(context: RecordContext, token: unknown): Promise<string> {
    const { principal } = await sessionsOf(context.store).sessionOf(token);
    return unlessMissing(userText(context, principal.userId), 'invalidSession');
  }

  /** The session of a token. @throws invalidSession (209) */
  async currentSession(store: Store, token: unknown): Promise<Session> {
    return sessionsOf(store).sessionOf(token);
  }

  /** SPEC "Users and sessions: Log out". @throws invalidSession (209) */
  async logOut(store: Store, token: unknown): Promise<void> {
    await sessionsOf(store).sessionOf(token);
    const tokenHash = hashToken(token as string);
    await store.write({ plan: (schema) => ({ changes: [], mutations: [endSession(schema, tokenHash)] }) });
  }

  /**
   * Opens another session: of the caller, or with a key of the `user` that the body names (docs/decisions.md).
   * @param token of the session that asks; the commit looks whether it is still in force
   * @throws captcha, permissionDenied (119); schemaMismatch (111); invalidFieldName (105); objectNotFound (101); invalidSession (209)
   */
  async openSession(context: RecordContext, body: JsonObject, token: unknown): Promise<Opened> {
    const { store, principal } = context;
    authorize(principal, 'create', tableOf(store.schema(), '_Session'));
    if (Object.hasOwn(body, 'ACL')) fail('invalidFieldName', 'ACL');
    const asking = principal.kind === 'user' ? await sessionsOf(store).sessionOf(token) : null;
    const userId = asking?.principal.userId ?? namedUser(body);
    // It stands beside the session that asks for it, whatever the installation.
    const { token: sessionToken, session } = newSession({
      createdWith: { action: 'create' },
      installationId: null,
      days: this.#sessionDays,
    });
    const opening = { userId, actor: actorId(principal) ?? userId, at: Date.now() };
    const allowed = (schema: Schema) => [
      requireUser(schema, userId),
      ...(asking ? [requireSession(schema, asking.objectId)] : []),
    ];
    const { fields: sent, flags } = takeFlags(body, actsAsMaster(principal));
    const { objectId } = session;
    const { at } = opening;
    const write = commitPlan(context, (schema) => {
      const about = {
        event: 'create',
        table: tableOf(schema, '_Session'),
        objectId,
        sent,
        assignments: none,
        flags,
        at,
      } as const;
      return {
        changes: [],
        mutations: [...allowed(schema), ...openSession(schema, session, opening)],
        events: [eventOf(context, about)],
      };
    });
    await (asking ? unlessMissing(write, 'invalidSession') : write);
    return { objectId: session.objectId, createdAt: isoText(opening.at), sessionToken };
  }
}

function namedUser(body: JsonObject): string {
  const user = own(body, 'user') ?? null;
  const pointer = pointerOf(user);
  if (pointer?.className === '_User') return pointer.objectId;
  return fail('schemaMismatch', '_Session', 'user', 'Pointer<_User>', typeOfValue(user));
}

/** What was asked for; another error where the record that it takes has gone meanwhile. */
function unlessMissing<T>(asked: Promise<T>, otherwise: 'invalidSession' | 'badLogin'): Promise<T> {
  return asked.catch((error: unknown) => {
    throw error instanceof ServiceError && error.key === 'objectNotFound' ? serviceError(otherwise) : error;
  });
}

/** The user's record as the master sees it, secrets left out for everybody. */
async function userText(context: RecordContext, userId: string): Promise<string> {
  return wholeText(await readRecord({ ...context, principal: master }, '_User', userId));
}
