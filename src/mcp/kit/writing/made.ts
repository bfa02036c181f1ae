import type { JsonObject } from '../../../kernel/json.ts';
import { bytesOf } from '../answers/bytes.ts';
import { RESULT_BYTES } from '../answers/page.ts';
import type { Row } from '../reading/records.ts';

/** The answer of a change of one record. What operators made of a long list is left out where it is more than an answer holds. */
export function changeAnswer({ updatedAt = null, objectId, ...made }: Row): JsonObject {
  const isLong = bytesOf(made) > RESULT_BYTES / 2;
  return { updatedAt, objectId, ...(isLong ? { truncated: true } : made) };
}
