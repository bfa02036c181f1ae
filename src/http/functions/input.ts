import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { fail } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Credentials } from '../../systems/index.ts';
import { type Envelope, envelopeOf, fieldsOf, openEnvelope, stripConsumed } from '../endpoint/parse-request.ts';
import { parseForm } from './form.ts';

/** Values of a body, which anybody may send and which is read in one turn: some 100 ms at the worst. */
const MAX_VALUES = 200_000;

/** What a call brings. */
export interface Input {
  /** Without the keys that are about the request. */
  readonly fields: JsonObject;
  /** Whether all values are texts, since a form or a query brought them. */
  readonly isForm: boolean;
  readonly credentials: Credentials;
  readonly installationId: string | null;
}

/**
 * Reads what a call brings: the query of a GET; of a POST the body, as a form where its type says so and it does not begin as JSON does, else as JSON (docs/decisions.md
 * "Functions and forms").
 * @throws invalidJson (107), tooManyValues (413)
 */
export function readInput(request: FastifyRequest): Input {
  const { headers } = request;
  if (request.method !== 'POST') {
    // Credentials do not travel in addresses, which are kept in many places.
    const fields = stripConsumed(parseForm(queryOf(request.url))) as JsonObject;
    return { ...inputOf(openEnvelope(headers, undefined), true), fields };
  }
  const type = mediaType(headers['content-type']);
  const text = (request.body as string | undefined) ?? '';
  // Its place is free when the answer is made; the request is there until that is taken.
  request.body = undefined;
  if (type === 'multipart/form-data')
    fail('invalidJson', 'multipart/form-data is not taken here, send application/x-www-form-urlencoded or JSON');
  return type === 'application/x-www-form-urlencoded' && !isJsonLike(text)
    ? inputOf(envelopeOf(headers, parseForm(text)), true)
    : inputOf(openEnvelope(headers, text, MAX_VALUES), false);
}

/** Many clients send JSON under the type of forms, which is their usual one. No form begins so: a brace would be encoded. */
const isJsonLike = (text: string): boolean => /^\s*\{/.test(text);

function inputOf({ body, credentials, installationId }: Envelope, isForm: boolean): Input {
  return { fields: fieldsOf(body), isForm, credentials, installationId };
}

function mediaType(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase();
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
}

/** Headers that let whoever has them act as the sender (SPEC "Credentials"; those of browsers and proxies). */
const credential = /^(?:x-platform-(?:.*-)?(?:key|token)|(?:proxy-)?authorization|cookie)$/;

/** The headers of a request that code of an operator may see: all but credentials. */
export function callersHeaders(headers: IncomingHttpHeaders): Record<string, string | string[] | undefined> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !credential.test(name)));
}
