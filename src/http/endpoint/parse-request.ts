import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, isStorable, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { prefix } from '../../kernel/prefix.ts';
import type { Credentials } from '../../systems/index.ts';
import { parseRequestJson } from '../../values/index.ts';

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
  const isOne = typeof sent === 'string' && sent !== '' && sent.length <= MAX_INSTALLATION_ID_LENGTH && isStorable(sent);
  return isOne ? sent : null;
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

const none: ReadonlyMap<string, string> = new Map();

/**
 * Query parameters by name, as HTML forms encode them: `+` is a space (SPEC "Query parameters"). Of a repeated name the last counts;
 * what is no valid escape is kept as it stands.
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

/**
 * The name and the value of one part of a form or query.
 * @param decodePercents is called with texts that hold `%`
 */
export function decodePair(part: string, decodePercents: (text: string) => string): readonly [name: string, value: string] {
  const equals = part.indexOf('=');
  if (equals < 0) return [decodeText(part, decodePercents), ''];
  return [decodeText(part.slice(0, equals), decodePercents), decodeText(part.slice(equals + 1), decodePercents)];
}

function decodeText(text: string, decodePercents: (text: string) => string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodePercents(spaced) : spaced;
}

/** Paths whose names are anything, so that a `%` may be one of their letters. */
const named: readonly string[] = [`${prefix}/files/`, '/static/'];
const barePercent = /%(?![0-9a-f]{2})/gi;

/**
 * The address of a request as it is routed. SPEC "Query parameters": an unencoded `#` ends it, wherever it was not already cut off by the
 * client. SPEC "Files" rule 2: in the path of a file a `%` that encodes nothing is itself.
 */
export function addressOf(url: string): string {
  const end = url.indexOf('#');
  const address = end < 0 ? url : url.slice(0, end);
  if (!address.includes('%') || !named.some((start) => address.startsWith(start))) return address;
  const query = address.indexOf('?');
  const path = query < 0 ? address : address.slice(0, query);
  return path.replace(barePercent, '%25') + address.slice(path.length);
}
