/**
 * How a statement fails by itself where a condition does not hold, so that its transaction ends without a further round trip: it divides by
 * zero (22012). No other statement of a write divides by what may be zero.
 */

import { causeOf } from '../connection/map-error.ts';

/** An expression that fails unless a condition holds, which is never NULL. */
export const failUnless = (condition: string): string => `1 / (CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/** An expression that fails where a condition holds, which is never NULL. */
export const failIf = (condition: string): string => `1 / (CASE WHEN ${condition} THEN 0 ELSE 1 END)`;

/** An expression that fails where a number of rows is zero. */
export const failWithoutRows = (count: string): string => `1 / (${count})`;

/** Whether that is how a statement failed. */
export function isAssertionFailure(error: unknown): boolean {
  return (causeOf(error) as { readonly code?: unknown } | null)?.code === '22012';
}
