import { randomBytes } from 'node:crypto';
import { HOUR_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { holds } from '../accounts/user-filters.ts';

/** For how long a link is good, in milliseconds (docs/decisions.md "Users and sessions": Reset). */
export const LINK_LIFETIME_MS = HOUR_MS;

const form = /^[\w-]{32}$/;

/** A new token for a link. */
export function newResetToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Whether a text can be a token at all. */
export function isResetToken(text: string): boolean {
  return form.test(text);
}

/** What is written of a user whose links are all good no more. */
export const withoutLink = { _reset_token: null, _reset_expires_at: null } as const;

/** The filter of the user, if any, whose newest link holds a token at a time. */
export function hasLink(table: TableSchema, tokenHash: string, at: number): Filter {
  const expiresAt = fieldOf(table, '_reset_expires_at');
  return {
    kind: 'and',
    items: [holds(table, '_reset_token', tokenHash), { kind: 'compare', field: expiresAt, op: 'gt', value: at }],
  };
}
