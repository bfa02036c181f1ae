import { isJsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { type RpcError, rpcCodes } from './messages.ts';

/** What a batch may hold. */
export interface BatchBound {
  readonly messages: number;
  /** Of these, such as ask for the list of tools or the like: the answer is thousands of times as long. */
  readonly listings: number;
}

/** Nothing is asked of who sends it. */
export const openBatch: BatchBound = { messages: 10, listings: 1 };
/** Of who has a credential that is good. */
export const knownBatch: BatchBound = { messages: 100, listings: 10 };

const listingMethods: ReadonlySet<unknown> = new Set(['tools/list', 'server/discover']);

/** The refusal of a batch that holds too much; `null` where it does not. */
export function refusalOfBatch(body: JsonValue, { messages, listings }: BatchBound): RpcError | null {
  if (!Array.isArray(body)) return null;
  if (body.length > messages) return tooMany(`${messages} messages`);
  const lists = body.filter((message) => isJsonObject(message) && listingMethods.has(own(message, 'method')));
  return lists.length > listings ? tooMany(listings === 1 ? 'one list' : `${listings} lists`) : null;
}

function tooMany(bound: string): RpcError {
  return { status: 400, code: rpcCodes.invalid, message: `Invalid Request: a batch holds ${bound} at most` };
}
