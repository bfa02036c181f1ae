import type { FindResult } from '../storage/port.ts';
import type { ApiReply } from './endpoint.ts';
import { FramedPieces } from './pieces.ts';

/**
 * `{results, className, count}` around the records, which may come piece by piece.
 * @param answer.className of the records, where the client may not know it
 */
export function resultsReply({ results, className, count }: FindResult & { readonly className?: string }): ApiReply {
  const told = className === undefined ? '' : `,"className":${JSON.stringify(className)}`;
  const end = count === undefined ? `${told}}` : `${told},"count":${count}}`;
  const json = typeof results === 'string' ? `{"results":${results}${end}` : new FramedPieces('{"results":', results, end);
  return { status: 200, json };
}
