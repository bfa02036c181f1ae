import { randomBytes } from 'node:crypto';
import { HOUR_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';
import { holds } from '../accounts/user-filters.ts';

/** Lifetime of a link in milliseconds. Reference: users.md#password-reset. */
export const LINK_LIFETIME_MS = HOUR_MS;

const form = /^[\w-]{32}$/;

/** Returns a new token for a link. */
export function newResetToken(): string {
  return randomBytes(24).toString('base64url');
}

/** Whether a text has the form of a token. */
export function isResetToken(text: string): boolean {
  return form.test(text);
}

/** Fields written to invalidate all links of a user. */
export const withoutLink = { _reset_token: null, _reset_expires_at: null } as const;

/** Filter of the user whose newest link has this token and is valid at a time. */
export function hasLink(table: TableSchema, tokenHash: string, at: number): Filter {
  const expiresAt = fieldOf(table, '_reset_expires_at');
  return {
    kind: 'and',
    items: [holds(table, '_reset_token', tokenHash), { kind: 'compare', field: expiresAt, op: 'gt', value: at }],
  };
}
