import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../kernel/json.ts';
import { limits } from '../kernel/limits.ts';
import type { Credentials } from '../systems/index.ts';
import { parseRequestJson } from '../values/index.ts';

/** What a request brings besides its address, credentials told apart from content. */
export interface Envelope {
  /** `undefined` where none was sent; a body may bring any value. */
  readonly appId: unknown;
  readonly credentials: Credentials;
  /** `null` where none was sent, or none that can be one. */
  readonly installationId: string | null;
  /** CONTRACT "Requests": the method that a POST stands for. */
  readonly method: unknown;
  /** Without the keys that were consumed. */
  readonly body: JsonValue | undefined;
}

/** Keys of a JSON body that are about the request: consumed, never stored (CONTRACT "Requests"; Parse's clients send them). */
const consumed: readonly string[] = [
  '_ApplicationId',
  '_MasterKey',
  '_apiKey',
  '_SessionToken',
  '_InstallationId',
  '_ClientVersion',
  '_JavaScriptKey',
  '_RevocableSession',
  '_context',
  '_noBody',
  '_method',
];

/**
 * Reads headers and body. A header wins over the body.
 * @param text the body; `undefined` or empty where there is none
 * @param values that it may have, as `parseRequestJson` counts them
 * @throws invalidJson (107), tooManyValues (413)
 */
export function openEnvelope(
  headers: IncomingHttpHeaders,
  text: string | undefined,
  values: number = limits.jsonMarksAtOnce,
): Envelope {
  return envelopeOf(headers, text === undefined || text === '' ? undefined : parseRequestJson(text, limits.jsonDepth, values));
}

/** The same of a body that was read, which loses the keys that are consumed. */
export function envelopeOf(headers: IncomingHttpHeaders, sent: JsonValue | undefined): Envelope {
  const about = takeConsumed(sent);
  return {
    appId: headers['x-platform-application-id'] || (about && own(about, '_ApplicationId')),
    credentials: credentialsOf(headers, about),
    installationId: installationIdOf(headers['x-platform-installation-id'] || (about && own(about, '_InstallationId'))),
    method: about && own(about, '_method'),
    body: sent,
  };
}

const MAX_INSTALLATION_ID_LENGTH = 256;

function installationIdOf(sent: unknown): string | null {
  const isOne = typeof sent === 'string' && sent !== '' && sent.length <= MAX_INSTALLATION_ID_LENGTH && sent.isWellFormed();
  return isOne && !sent.includes('\0') ? sent : null;
}

/** SPEC "Credentials". */
export function headerCredentials(headers: IncomingHttpHeaders): Credentials {
  return {
    masterKey: headers['x-platform-master-key'],
    apiKey: headers['x-platform-api-key'],
    sessionToken: headers['x-platform-session-token'],
  };
}

/** Those of the headers; those of the body where no header brings one, so that the two never mix. */
function credentialsOf(headers: IncomingHttpHeaders, about: JsonObject | undefined): Credentials {
  const ofHeaders = headerCredentials(headers);
  if (!about || Object.values(ofHeaders).some(Boolean)) return ofHeaders;
  return { masterKey: own(about, '_MasterKey'), apiKey: own(about, '_apiKey'), sessionToken: own(about, '_SessionToken') };
}

/**
 * Takes the keys that are about the request out of a body. In place: of hundreds of thousands of keys a copy takes as long as to read them.
 * @returns what they held; `undefined` where there is none
 */
function takeConsumed(body: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(body)) return undefined;
  let about: JsonObject | undefined;
  for (const name of consumed) {
    const value = own(body, name);
    if (value === undefined) continue;
    about ??= {};
    about[name] = value;
    delete body[name];
  }
  return about;
}

/** The body, without the keys that are about the request. */
export function stripConsumed(body: JsonValue | undefined): JsonValue | undefined {
  takeConsumed(body);
  return body;
}

/** The fields of a write; a missing body counts as one without fields. @throws invalidJson (107) for anything else that is no object */
export function fieldsOf(body: JsonValue | undefined): JsonObject {
  if (body === undefined) return {};
  return isJsonObject(body) ? body : fail('invalidJson', 'the body should be an object');
}
