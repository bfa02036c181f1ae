import type { IncomingHttpHeaders } from 'node:http';
import { credentialNameOf } from '../../access/index.ts';
import { fail, isInDoubt } from '../../errors/fail.ts';
import { type Once, onceStepwise, type RequestKey, requestKey, seal, sentKey, unseal } from '../../idempotency/index.ts';
import type { Credentials } from '../../systems/index.ts';
import type { ApiReply, ApiRequest, Endpoint } from './endpoint.ts';

/** Maximum characters of an answer that is kept for repetitions. Reference: requests.md#repeated-requests. */
export const MAX_KEPT_CHARS = 1024 * 1024;

/** Header of an answer that an earlier request had. */
const replayedHeader = 'idempotency-replayed';

/** What of a request its key depends on. */
export interface KeySource {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  readonly credentials: Credentials;
}

/**
 * Executes a request to an endpoint, once if it has a key.
 * @throws badIdempotencyKey (107), requestUnderWay (409), keyReused (422), duplicateRequest (159); what the endpoint throws
 */
export function answerOnce(endpoint: Endpoint, request: ApiRequest, source: KeySource): Promise<ApiReply> {
  const { method, keyed, handle } = endpoint;
  const sent = keyed ? sentKey(source.headers) : undefined;
  const { principal } = request;
  // Anonymous and wrong callers may write nothing.
  if (!keyed || !sent || principal.kind === 'anonymous' || principal.kind === 'invalid') return handle(request);
  const caller = credentialNameOf(principal);
  const named = { caller, credential: credentialOf(source.credentials), method, url: source.url, body: request.body };
  return requestKey(sent, named).then((key) => (keyed === 'stepwise' ? stepwise(endpoint, request, key) : keyed(request, key)));
}

/** Returns the credential that was sent, of which only hashes are stored. */
export function credentialOf({ masterKey, apiKey, sessionToken }: Credentials): string {
  return [masterKey, apiKey, sessionToken].find((one): one is string => typeof one === 'string' && one !== '') ?? '';
}

/** Returns the reply, marked if it is that of an earlier request. */
export const markedReply = ({ answer, isReplay }: Once<ApiReply>): ApiReply =>
  isReplay ? { ...answer, headers: { ...answer.headers, [replayedHeader]: 'true' } } : answer;

/** Executes an endpoint of several commits. */
async function stepwise({ handle }: Endpoint, request: ApiRequest, key: RequestKey): Promise<ApiReply> {
  const { store, progress } = request.context;
  const done = await onceStepwise<ApiReply>(store, key, {
    isResumable: false,
    execute: () => handle(request),
    keptOf: ({ json }) => ({ answer: typeof json === 'string' && json.length <= MAX_KEPT_CHARS ? json : null }),
    hasWritten: (error) => progress?.hasWritten !== false || isInDoubt(error),
    replay: async ({ answer }) => ({ status: 200, json: answer ?? fail('resultTooLarge') }),
  });
  return markedReply(done);
}

/** Returns an answer for its row: sealed if it holds a secret, `null` if it is too long. */
export function keptReply(key: RequestKey, { json, headers }: ApiReply, maxChars: number) {
  if (typeof json !== 'string' || json.length > maxChars) return { answer: null };
  return headers?.['cache-control'] === 'no-store' ? { answer: null, sealed: seal(key, json) } : { answer: json };
}

/** Returns what was sealed. @throws keyReused (422) if the repetition came with another session */
export const unsealed = (key: RequestKey, sealed: string): string => unseal(key, sealed) ?? fail('keyReused');
