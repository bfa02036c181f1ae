import type { FindResult } from '../storage/port.ts';
import type { ApiReply } from './endpoint.ts';
import { FramedPieces } from './pieces.ts';

/** `{results, count}` around the records, which may come piece by piece. */
export function resultsReply({ results, count }: FindResult): ApiReply {
  const end = count === undefined ? '}' : `,"count":${count}}`;
  const json = typeof results === 'string' ? `{"results":${results}${end}` : new FramedPieces('{"results":', results, end);
  return { status: 200, json };
}
