import { actorId, actsAsMaster, authorize, master, type Principal } from '../access/index.ts';
import { fail, ServiceError, serviceError } from '../errors/fail.ts';
import { type JsonObject, own } from '../kernel/json.ts';
import { isoText } from '../kernel/time.ts';
import { Observations } from '../observe/index.ts';
import {
  type Created,
  commitPlan,
  createRecord,
  eventOf,
  getRow,
  type NewRecord,
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
import { hashToken, newToken } from './sessions/token.ts';

/** The installation id that a client sent; `null` if it sent none. */
export type InstallationId = string | null;

/** The client of a login. */
export interface LoginClient {
  readonly installationId: InstallationId;
  /** The client's network. */
  readonly network: string;
  /** As in `SignInAttempt`. */
  readonly isGone: () => boolean;
}

const none: WriteEvent['assignments'] = new Map();

/** Answer of opening a session. The token is shown only here. */
export interface Opened extends Created {
  readonly sessionToken: string;
}

/** Answer of a login. The token is shown only here. */
export interface SignedIn {
  /** JSON text of the user's record, as `currentUserText`. */
  readonly user: string;
  readonly sessionToken: string;
}

/** Rules of the tables of users and their rights, for every path that writes them. */
export const userTableRules: ReadonlyMap<string, TableRules> = new Map([
  ['_User', userRules],
  ['_Session', sessionRules],
  ['_Role', roleRules],
  ['_Notification', notificationRules],
]);

/** Returns the user of a session (authentication.md#sessions). @throws invalidSession (209) */
export async function principalOfSession(store: Store, token: unknown): Promise<Principal> {
  return (await sessionsOf(store).sessionOf(token)).principal;
}

/** As `principalOfSession`, from the cache only; `null` if the session has to be read. */
export const cachedPrincipal = (store: Store, token: unknown): Principal | null =>
  sessionsOf(store).cached(token)?.principal ?? null;

/** Operations on users and sessions. Reference: users.md#sessions. */
export class Users {
  readonly #sessionDays: number;
  readonly #observations: Observations;

  /** @param sessionDays lifetime of sessions (users.md#sessions) */
  constructor(sessionDays: number, observations = new Observations()) {
    this.#sessionDays = sessionDays;
    this.#observations = observations;
  }

  /**
   * Creates a user and a session, unless the user is created as blocked. Reference: users.md#create-a-user.
   * @param body fields and password
   * @throws captcha, permissionDenied (119); passwordPolicy (142); usernameMissing, passwordMissing, usernameTaken, emailTaken (200 to 203)
   */
  async signUp(context: RecordContext, body: JsonObject, installationId: InstallationId): Promise<Created | Opened> {
    const { record, opened } = this.newUser(body, installationId);
    return { ...(await createRecord(context, '_User', body, record.alongside)), ...opened };
  }

  /** Returns the record that `signUp` creates, and what its answer has beside that of a create. */
  newUser(body: JsonObject, installationId: InstallationId): { record: NewRecord; opened: Pick<Opened, 'sessionToken'> | null } {
    const record = { className: '_User', body };
    if (startsBlocked(body)) return { record, opened: null };
    const createdWith = { action: 'signup', authProvider: 'password' } as const;
    const { token, session } = newSession({ createdWith, installationId, days: this.#sessionDays });
    const alongside = (schema: Schema, userId: string) => openSession(schema, session, { userId, actor: userId, at: Date.now() });
    return { record: { ...record, alongside }, opened: { sessionToken: token } };
  }

  /**
   * Signs a user in. Reference: users.md#log-in.
   * @param sent `username` or `email`, and `password`
   * @throws what `logIn` throws
   */
  async logIn(context: RecordContext, sent: JsonObject, { installationId, network, isGone }: LoginClient): Promise<SignedIn> {
    const { username, email, password } = sent;
    const own = { sessionDays: this.#sessionDays, observations: this.#observations };
    const attempt = { username, email, password, installationId, network, isGone, ...own };
    const { userId, token } = await logIn(context.store, attempt);
    if (context.progress) context.progress.hasWritten = true;
    return { user: await unlessMissing(userText(context, userId), 'badLogin'), sessionToken: token };
  }

  /**
   * Returns the whole record of the session's user, whatever the permissions say. Reference: users.md#log-in.
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

  /** Returns the session of a token. @throws invalidSession (209) */
  async currentSession(store: Store, token: unknown): Promise<Session> {
    return sessionsOf(store).sessionOf(token);
  }

  /** Returns a token for a session that is about to be opened. */
  newToken(): string {
    return newToken();
  }

  /** Ends the session of a token. Reference: users.md#log-out. @throws invalidSession (209) */
  async logOut(store: Store, token: unknown): Promise<void> {
    await sessionsOf(store).sessionOf(token);
    const tokenHash = hashToken(token as string);
    await store.write({ plan: (schema) => ({ changes: [], mutations: [endSession(schema, tokenHash)] }) });
  }

  /**
   * Opens another session: of the caller, or with a key of the `user` that the body names. Reference: users.md#sessions.
   * @param token of the caller's session; the commit checks that it is still valid
   * @param issued token of the new session
   * @throws captcha, permissionDenied (119); schemaMismatch (111); invalidFieldName (105); objectNotFound (101); invalidSession (209)
   */
  async openSession(context: RecordContext, body: JsonObject, token: unknown, issued = this.newToken()): Promise<Opened> {
    const { store, principal } = context;
    authorize(principal, 'create', tableOf(store.schema(), '_Session'));
    if (Object.hasOwn(body, 'ACL')) fail('invalidFieldName', 'ACL');
    const asking = principal.kind === 'user' ? await sessionsOf(store).sessionOf(token) : null;
    const userId = asking?.principal.userId ?? namedUser(body);
    // It does not replace the caller's session, whatever the installation.
    const about = { createdWith: { action: 'create' }, installationId: null, days: this.#sessionDays } as const;
    const { token: sessionToken, session } = newSession(about, issued);
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

/** Awaits a result, with another error if its record has gone meanwhile. */
function unlessMissing<T>(requested: Promise<T>, otherwise: 'invalidSession' | 'badLogin'): Promise<T> {
  return requested.catch((error: unknown) => {
    throw error instanceof ServiceError && error.key === 'objectNotFound' ? serviceError(otherwise) : error;
  });
}

/** Returns the user's record as the master sees it; secret fields are left out as for every caller. */
async function userText(context: RecordContext, userId: string): Promise<string> {
  return wholeText(await readRecord({ ...context, principal: master }, '_User', userId));
}
