import { newObjectId } from '../../kernel/ids.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type Schema, type TableSchema, tableOf } from '../../schema/model.ts';
import { columnsOf } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';
import { holds, notBlocked } from '../accounts/user-filters.ts';
import { hashToken, newToken } from './token.ts';

/** A session to open. */
export interface NewSession {
  readonly objectId: string;
  readonly tokenHash: string;
  readonly createdWith: {
    readonly action: 'login' | 'signup' | 'create';
    readonly authProvider?: 'password';
    readonly client?: 'console';
  };
  readonly installationId: string | null;
  readonly days: number;
}

/** The session's user, the author of the row (a user, or `master`), and the time, in milliseconds since 1970. */
export interface Opening {
  readonly userId: string;
  readonly actor: string;
  readonly at: number;
}

/** Returns a session to open, and its token, which is stored nowhere else. */
export function newSession(
  about: Omit<NewSession, 'objectId' | 'tokenHash'>,
  token: string = newToken(),
): { token: string; session: NewSession } {
  return { token, session: { ...about, objectId: newObjectId(), tokenHash: hashToken(token) } };
}

/** Returns the steps that open a session. It replaces the user's earlier one on the same installation, and the user's expired ones. */
export function openSession(schema: Schema, session: NewSession, { userId, actor, at }: Opening): Mutation[] {
  const table = tableOf(schema, '_Session');
  const { installationId } = session;
  const columns = columnsOf(table, {
    objectId: session.objectId,
    createdAt: at,
    updatedAt: at,
    createdBy: actor,
    updatedBy: actor,
    user: userId,
    sessionToken: session.tokenHash,
    expiresAt: at + session.days * DAY_MS,
    createdWith: JSON.stringify(session.createdWith),
    restricted: session.createdWith.action === 'create',
  });
  const replaced: Filter[] = [expired(table, at)];
  if (installationId !== null) {
    columns.push([fieldOf(table, 'installationId'), installationId]);
    replaced.push(holds(table, 'installationId', installationId));
  }
  return [
    { kind: 'deleteAll', table, filter: { kind: 'and', items: [holds(table, 'user', userId), { kind: 'or', items: replaced }] } },
    { kind: 'insert', table, values: columns },
  ];
}

/** Requires that the user of a new session exists and is not blocked. */
export function requireUser(schema: Schema, userId: string): Mutation {
  const table = tableOf(schema, '_User');
  return { kind: 'require', table, filter: { kind: 'and', items: [holds(table, 'objectId', userId), notBlocked(table)] } };
}

/** Requires that the session that opens another one is still valid. After `requireUser`, which waits for a concurrent end of the user's sessions. */
export function requireSession(schema: Schema, objectId: string): Mutation {
  const table = tableOf(schema, '_Session');
  return { kind: 'require', table, filter: holds(table, 'objectId', objectId) };
}

/** Returns the steps that end all sessions of a user. These include sessions opened concurrently, since opening one requires or writes the user. */
export function endSessionsOf(schema: Schema, userId: string): Mutation[] {
  const users = tableOf(schema, '_User');
  const table = tableOf(schema, '_Session');
  return [
    { kind: 'require', table: users, filter: holds(users, 'objectId', userId), exclusive: true },
    { kind: 'deleteAll', table, filter: holds(table, 'user', userId) },
  ];
}

/** Returns the step that ends one session. */
export function endSession(schema: Schema, tokenHash: string): Mutation {
  const table = tableOf(schema, '_Session');
  return { kind: 'deleteAll', table, filter: holds(table, 'sessionToken', tokenHash) };
}

/** Filter of sessions that have expired. */
function expired(table: TableSchema, at: number): Filter {
  return { kind: 'compare', field: fieldOf(table, 'expiresAt'), op: 'lte', value: at };
}
