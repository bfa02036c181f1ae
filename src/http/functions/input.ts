import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { MIN_LONG_BODY_LENGTH } from '../../admission/body-share.ts';
import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Credentials } from '../../systems/index.ts';
import type { JsonBounds } from '../../values/index.ts';
import { type Envelope, envelopeOf, fieldsOf, parseEnvelope, stripConsumed } from '../endpoint/parse-request.ts';
import { parseForm, parseLongForm } from './form.ts';

/** Maximum number of values in a body: anybody may call. */
export const MAX_VALUES = 200_000;
const bounds: JsonBounds = { levels: limits.jsonDepth, marks: MAX_VALUES, marksApart: MAX_VALUES };

/** Parses a long body in parts. @throws what `LongBodies.read` throws */
export type ReadLong = (text: string, bounds: JsonBounds) => Promise<JsonValue>;

/** The input of a call. */
export interface CallInput {
  /** Without the keys that describe the request. */
  readonly fields: JsonObject;
  /** Whether all values are strings, because they come from a form or a query. */
  readonly isForm: boolean;
  readonly credentials: Credentials;
  readonly installationId: string | null;
}

/**
 * Reads the input of a call: the query of a GET; the body of a POST, as a form if its content type says so and it does not start like JSON, else as
 * JSON. Reference: functions.md#calling-a-function.
 * @param system whose turns a long body uses
 * @returns a promise if the body is long
 * @throws invalidJson (107), tooManyValues (413)
 */
export function readInput(request: FastifyRequest, system: string, readLong: ReadLong): CallInput | Promise<CallInput> {
  const { headers } = request;
  if (request.method !== 'POST') {
    // Credentials in a URL are ignored: URLs are stored in logs and histories.
    const fields = stripConsumed(parseForm(queryOf(request.url))) as JsonObject;
    return { ...inputOf(parseEnvelope(headers, undefined), true), fields };
  }
  const type = mediaType(headers['content-type']);
  const text = (request.body as string | undefined) ?? '';
  // Release the text: the request object stays referenced until the answer was taken.
  request.body = undefined;
  if (type === 'multipart/form-data')
    fail('invalidJson', 'multipart/form-data is not taken here, send application/x-www-form-urlencoded or JSON');
  const isForm = type === 'application/x-www-form-urlencoded' && !isJsonLike(text);
  if (text.length < MIN_LONG_BODY_LENGTH)
    return inputOf(isForm ? envelopeOf(headers, parseForm(text)) : parseEnvelope(headers, text, MAX_VALUES), isForm);
  const reading = isForm ? parseLongForm(text, system) : readLong(text, bounds);
  return reading.then((sent) => inputOf(envelopeOf(headers, sent), isForm));
}

/** Many clients send JSON with the content type of forms, their default. No form begins with `{`, which would be percent-encoded. */
const isJsonLike = (text: string): boolean => /^\s*\{/.test(text);

function inputOf({ body, credentials, installationId }: Envelope, isForm: boolean): CallInput {
  return { fields: fieldsOf(body), isForm, credentials, installationId };
}

function mediaType(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

/** Headers that carry credentials, of this service (authentication.md#credentials) and of browsers and proxies. */
const credentialHeader = /^(?:x-platform-(?:.*-)?(?:key|token)|(?:proxy-)?authorization|cookie)$/;

/** Returns the headers that a custom function may see: all except credentials. */
export function callersHeaders(headers: IncomingHttpHeaders): Record<string, string | string[] | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !credentialHeader.test(name)));
}
