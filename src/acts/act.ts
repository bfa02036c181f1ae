import type { Principal } from '../access/index.ts';
import { newRowId } from '../kernel/ids.ts';
import type { JsonObject } from '../kernel/json.ts';
import { bounded } from './bounded.ts';

/** What kind of thing was administered. Reference: audit.md#log-of-administrators. */
export type ActKind =
  | 'schema'
  | 'permissions'
  | 'keys'
  | 'roles'
  | 'users'
  | 'configuration'
  | 'triggers'
  | 'backup'
  | 'restore'
  | 'export'
  | 'import'
  | 'clone'
  | 'system';

/** An act of administration: a row of `_AdminLog`. */
export interface Act {
  /** objectId of its row. An act that is delivered twice has one row. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly act: ActKind;
  /** The objectId of a user, `master`, `key:<name>` or `cli`. */
  readonly who: string;
  /** What was administered: a table, a user, a role, the name of a key, of a flag or of a file. */
  readonly subject: string;
  /** Of what changed only. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly requestId: string | null;
}

/** An act without what its row adds. */
export interface ActFacts {
  readonly act: ActKind;
  readonly subject: string;
  readonly before?: JsonObject | null;
  readonly after?: JsonObject | null;
}

/** Who acts, and for which request. */
export interface Actor {
  readonly who: string;
  readonly requestId?: string | undefined;
}

/** Who acts by the command line. */
export const operator: Actor = { who: 'cli' };

/** Returns an act of now, its values cut to their bound. @param at milliseconds since 1970 */
export function newAct({ act, subject, before, after }: ActFacts, { who, requestId }: Actor, at = Date.now()): Act {
  return {
    id: newRowId(at),
    at,
    act,
    who,
    subject: subject.slice(0, MAX_SUBJECT_LENGTH),
    before: before ? bounded(before) : null,
    after: after ? bounded(after) : null,
    requestId: requestId ?? null,
  };
}

/** Names of tables, roles, flags and files are shorter, or cut. */
const MAX_SUBJECT_LENGTH = 500;

/** Whether the log would take a user of this id for the master key, for an API key or for the command line. */
export const isNameOfActor = (userId: string): boolean =>
  userId === 'master' || userId === operator.who || userId.startsWith('key:');

/** Returns the name under which a caller is recorded. */
export function whoOf(principal: Principal): string {
  if (principal.kind === 'apiKey') return `key:${principal.name}`;
  return principal.kind === 'user' ? whoOfUser(principal.userId) : principal.kind;
}

/** Returns the name under which a user is recorded: the objectId, marked if such a user came from elsewhere under the name of another actor. */
export const whoOfUser = (userId: string): string => (isNameOfActor(userId) ? `user:${userId}` : userId);
