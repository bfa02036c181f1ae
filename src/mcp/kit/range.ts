import type { JsonObject } from '../../kernel/json.ts';
import { wireDate } from './records.ts';

/** The constraint of a Date within a range, both ends in it; empty where there is none. @param from ISO 8601 */
export const within = (from: string | undefined, to: string | undefined): JsonObject => ({
  ...(from !== undefined && { $gte: wireDate(from) }),
  ...(to !== undefined && { $lte: wireDate(to) }),
});

/** The same as a `where` about a field. */
export function during(field: string, from: string | undefined, to: string | undefined): JsonObject {
  const range = within(from, to);
  return Object.keys(range).length > 0 ? { [field]: range } : {};
}
