import { createHash, hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../kernel/json.ts';

/** Headers by which a client names a request, to repeat it. Reference: requests.md#repeated-requests. */
const headers = { key: 'Idempotency-Key', requestId: 'X-Platform-Request-Id' } as const;

/** A name that a client gave to its request. */
export interface SentKey {
  /** By which header; a repetition with a `requestId` is refused, not answered. */
  readonly kind: keyof typeof headers;
  readonly text: string;
}

/** The key of a request, with what a repetition must have in common with it. */
export interface RequestKey {
  readonly kind: SentKey['kind'];
  /** Of its row: a hash of the caller and the key. */
  readonly id: string;
  /** Hash of method, address and body. */
  readonly fingerprint: string;
  /** Material of the key that seals secrets of the answer; only the client has it. */
  readonly secret: string;
  /** Whether the request is likely to have been carried out before. */
  readonly isRepeated?: boolean;
}

/** Characters of a hash that are kept: 132 bits. */
const HASH_CHARS = 22;

const visible = /^[\x21-\x7e]{1,255}$/;

/**
 * Returns the key of a request; `undefined` if it has none. An Idempotency-Key takes precedence.
 * @throws badIdempotencyKey (107)
 */
export function sentKey(sent: { readonly [name: string]: string | string[] | undefined }): SentKey | undefined {
  for (const kind of ['key', 'requestId'] as const) {
    const text = sent[headers[kind].toLowerCase()];
    if (text === undefined) continue;
    return typeof text === 'string' && visible.test(text) ? { kind, text } : fail('badIdempotencyKey', headers[kind]);
  }
  return undefined;
}

/** A request that a key names. */
export interface NamedRequest {
  /** The credential that it came with, as a name: requests of others have keys of their own. */
  readonly caller: string;
  /** The credential itself. */
  readonly credential: string;
  readonly method: string;
  /** As sent, with its query. */
  readonly url: string;
  readonly body: JsonValue | undefined;
}

/** Returns the key of a request. */
export async function requestKey({ kind, text }: SentKey, request: NamedRequest): Promise<RequestKey> {
  return {
    kind,
    id: hash('sha256', JSON.stringify([kind, request.caller, text]), 'base64url').slice(0, HASH_CHARS),
    fingerprint: await fingerprintOf(request),
    secret: JSON.stringify([request.credential, text]),
  };
}

/** Characters of a body that are hashed in one turn of the event loop. */
const MAX_TURN_CHARS = 1024 * 1024;

/** Members of an array from which it is hashed one by one. */
const MIN_LONG_ARRAY = 100;

/** Hashes the members of long arrays one by one, so that a large batch does not block the event loop. */
function fingerprintOf(request: NamedRequest): string | Promise<string> {
  const { method, url, body = null } = request;
  const isLong = isJsonObject(body) && Object.values(body).some((one) => Array.isArray(one) && one.length >= MIN_LONG_ARRAY);
  if (isLong) return longFingerprintOf(request);
  return hash('sha256', JSON.stringify([method, url, body]), 'base64url').slice(0, HASH_CHARS);
}

async function longFingerprintOf({ method, url, body }: NamedRequest): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify([method, url]));
  let chars = 0;
  const add = async (text: string) => {
    digest.update(text);
    chars += text.length;
    if (chars < MAX_TURN_CHARS) return;
    chars = 0;
    await nextTurn();
  };
  for (const [name, value] of Object.entries(body ?? {})) {
    await add(JSON.stringify(name));
    if (!Array.isArray(value)) await add(JSON.stringify(value));
    else for (const one of [value.length, ...value]) await add(JSON.stringify(one));
  }
  return digest.digest('base64url').slice(0, HASH_CHARS);
}

/** Returns the key of a part of a request, such as an item of a batch. */
export const keyOfPart = (key: RequestKey, part: number): RequestKey => ({ ...key, id: `${key.id}.${part}` });
