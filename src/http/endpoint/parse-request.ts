import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, isStorable, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import type { Credentials } from '../../systems/index.ts';
import { parseRequestJson } from '../../values/index.ts';

/** A parsed request without its address: credentials separated from content. */
export interface Envelope {
  /** `undefined` if none was sent; a body may contain any value. */
  readonly appId: unknown;
  readonly credentials: Credentials;
  /** `null` if none was sent or it is invalid. */
  readonly installationId: string | null;
  /** The method that a POST stands for. Reference: requests.md#methods. */
  readonly method: unknown;
  /** The body without the consumed keys. */
  readonly body: JsonValue | undefined;
}

/** Keys of a JSON body that describe the request: consumed, never stored. Parse clients send them. Reference: requests.md#credentials-in-a-body. */
const consumedKeys: readonly string[] = [
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
 * Parses headers and body. A header takes precedence over the body.
 * @param text the body; `undefined` or empty if there is none
 * @param values maximum number of values, counted like `parseRequestJson`
 * @throws invalidJson (107), tooManyValues (413)
 */
export function parseEnvelope(
  headers: IncomingHttpHeaders,
  text: string | undefined,
  values: number = limits.jsonMarksAtOnce,
): Envelope {
  return envelopeOf(headers, text === undefined || text === '' ? undefined : parseRequestJson(text, limits.jsonDepth, values));
}

/** Like `parseEnvelope`, for a body that is already parsed. Removes the consumed keys from it. */
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
  const isOne = typeof sent === 'string' && sent !== '' && sent.length <= MAX_INSTALLATION_ID_LENGTH && isStorable(sent);
  return isOne ? sent : null;
}

/** Reference: authentication.md#credentials. */
export function headerCredentials(headers: IncomingHttpHeaders): Credentials {
  return {
    masterKey: headers['x-platform-master-key'],
    apiKey: headers['x-platform-api-key'],
    sessionToken: headers['x-platform-session-token'],
  };
}

/** Returns the credentials of the headers; those of the body only if no header has any, so that the two never mix. */
function credentialsOf(headers: IncomingHttpHeaders, about: JsonObject | undefined): Credentials {
  const ofHeaders = headerCredentials(headers);
  if (!about || Object.values(ofHeaders).some(Boolean)) return ofHeaders;
  return { masterKey: own(about, '_MasterKey'), apiKey: own(about, '_apiKey'), sessionToken: own(about, '_SessionToken') };
}

/**
 * Removes the keys that describe the request from a body. In place: copying hundreds of thousands of keys would take as long as parsing them.
 * @returns the removed values; `undefined` if there are none
 */
function takeConsumed(body: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(body)) return undefined;
  let about: JsonObject | undefined;
  for (const name of consumedKeys) {
    const value = own(body, name);
    if (value === undefined) continue;
    about ??= {};
    about[name] = value;
    delete body[name];
  }
  return about;
}

/** Returns the body without the keys that describe the request. */
export function stripConsumed(body: JsonValue | undefined): JsonValue | undefined {
  takeConsumed(body);
  return body;
}

/** Returns the fields of a write; a missing body counts as an empty object. @throws invalidJson (107) for any other value that is not an object */
export function fieldsOf(body: JsonValue | undefined): JsonObject {
  if (body === undefined) return {};
  return isJsonObject(body) ? body : fail('invalidJson', 'the body should be an object');
}

const none: ReadonlyMap<string, string> = new Map();

/**
 * Parses query parameters in the encoding of HTML forms: `+` is a space (queries.md#parameters). The last of several equal names wins; invalid
 * escapes are kept as they are.
 */
export function parseQueryString(text: string): ReadonlyMap<string, string> {
  if (text === '') return none;
  const parameters = new Map<string, string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const [name, value] = decodePair(part, decodePercents);
    parameters.set(name, value);
  }
  return parameters;
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Decodes the name and the value of one part of a form or query. @param decodePercents called for texts that contain `%` */
export function decodePair(part: string, decodePercents: (text: string) => string): readonly [name: string, value: string] {
  const equals = part.indexOf('=');
  if (equals < 0) return [decodeText(part, decodePercents), ''];
  return [decodeText(part.slice(0, equals), decodePercents), decodeText(part.slice(equals + 1), decodePercents)];
}

/** Decodes a name or a value: `+` is a space. */
export function decodeText(text: string, decodePercents: (text: string) => string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodePercents(spaced) : spaced;
}

/** Paths that end in arbitrary names, which may contain a literal `%`. */
const pathsWithNames: readonly string[] = [`${prefix}/files/`, '/static/'];
const barePercent = /%(?![0-9a-f]{2})/gi;

/**
 * Returns the URL to route. An unencoded `#` ends it if the client has not cut it off (queries.md#parameters). In the path of a file, a `%` that
 * encodes nothing is literal (files.md#serving).
 */
export function normalizeUrl(url: string): string {
  const end = url.indexOf('#');
  const address = end < 0 ? url : url.slice(0, end);
  if (!address.includes('%') || !pathsWithNames.some((start) => address.startsWith(start))) return address;
  const query = address.indexOf('?');
  const path = query < 0 ? address : address.slice(0, query);
  return path.replace(barePercent, '%25') + address.slice(path.length);
}
