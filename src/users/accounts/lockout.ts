import { MINUTE_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';

/** Number of failed logins in a row that locks a user out. Reference: users.md#account-lockout. */
export const MAX_FAILURES = 8;
/** Duration of the lock. */
export const LOCK_MINUTES = 30;

const LOCK_MS = LOCK_MINUTES * MINUTE_MS;

/** Fields written when a user signs in or gets a new password: the user is not locked. */
export const unlocked = { _failed_login_count: 0, _last_failed_login: null } as const;

/** The failed logins recorded for a user. */
export interface Failures {
  readonly count: number;
  /** Milliseconds since 1970; `null` if there was none. */
  readonly last: number | null;
}

/** Whether a user is locked out at a time. */
export function isLocked({ count, last }: Failures, at: number): boolean {
  return count >= MAX_FAILURES && last !== null && last > at - LOCK_MS;
}

/** Filter of users who are not locked out at a time: `isLocked` negated, for the commit that counts an attempt. */
export function notLocked(table: TableSchema, at: number): Filter {
  const count = fieldOf(table, '_failed_login_count');
  const last = fieldOf(table, '_last_failed_login');
  return {
    kind: 'or',
    items: [
      absent(count),
      { kind: 'compare', field: count, op: 'lt', value: MAX_FAILURES },
      absent(last),
      { kind: 'compare', field: last, op: 'lte', value: at - LOCK_MS },
    ],
  };
}

const absent = (field: ReturnType<typeof fieldOf>): Filter => ({
  kind: 'not',
  item: { kind: 'exists', ref: { field, path: [] } },
});
