import { MINUTE_MS } from '../../kernel/time.ts';
import type { Filter } from '../../query/model/filter.ts';
import { fieldOf, type TableSchema } from '../../schema/model.ts';

/** SPEC "Limits": so many failed logins in a row lock a user out. */
export const MAX_FAILURES = 8;
/** SPEC "Limits": for so long. */
export const LOCK_MINUTES = 30;

const LOCK_MS = LOCK_MINUTES * MINUTE_MS;

/** What is written of a user who has signed in, or has a new password: he is not locked. */
export const unlocked = { _failed_login_count: 0, _last_failed_login: null } as const;

/** What a user's record says of his failed logins. */
export interface Failures {
  readonly count: number;
  /** Milliseconds since 1970; `null` where there was none. */
  readonly last: number | null;
}

/** Whether a user is locked out at a time. */
export function isLocked({ count, last }: Failures, at: number): boolean {
  return count >= MAX_FAILURES && last !== null && last > at - LOCK_MS;
}

/** The filter of users who are not locked out at a time: what `isLocked` says, for the commit that counts an attempt. */
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
