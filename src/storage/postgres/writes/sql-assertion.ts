/**
 * Assertions inside SQL: a statement fails by a division by zero (22012) if a condition does not hold, which ends the transaction without another
 * round trip. No other statement of a write divides by a value that may be zero.
 */

import { causeOf } from '../connection/map-error.ts';

/** Returns an expression that fails unless a condition, which must not be NULL, is true. */
export const failUnless = (condition: string): string => `1 / (CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/** Returns an expression that fails if a condition, which must not be NULL, is true. */
export const failIf = (condition: string): string => `1 / (CASE WHEN ${condition} THEN 0 ELSE 1 END)`;

/** Returns an expression that fails if a number of rows is zero. */
export const failWithoutRows = (count: string): string => `1 / (${count})`;

/** Returns whether a statement failed by such an assertion. */
export function isAssertionFailure(error: unknown): boolean {
  return (causeOf(error) as { readonly code?: unknown } | null)?.code === '22012';
}
